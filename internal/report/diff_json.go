package report

import (
	"io"
	"math"
	"strconv"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A DiffDocument is what diff prints as JSON.
type DiffDocument struct {
	Schema     string         `json:"schema"`
	Base       DiffSide       `json:"base"`
	Head       DiffSide       `json:"head"`
	Design     DiffDesign     `json:"design"`
	Events     []DiffEvent    `json:"events"`
	Functions  []DiffFunction `json:"functions"`
	Shifts     []DiffShift    `json:"shifts"`
	Categories []DiffRow      `json:"categories"`
	Threads    []DiffRow      `json:"threads"`
	DSOs       []DiffRow      `json:"dsos"`
	Metrics    []DiffMetrics  `json:"metrics"`
}

// A DiffSide is the recordings of one side.
type DiffSide struct {
	Runs []DiffRun `json:"runs"`
}

// A DiffRun is one recording and what became of its samples.
type DiffRun struct {
	Path       string `json:"path"`
	Format     string `json:"format"`
	RecordedAt string `json:"recorded_at"` // RFC 3339, "" if unknown
	DurationNS int64  `json:"duration_ns"`
	SamplesIn  int64  `json:"samples_in"`
	SamplesOut int64  `json:"samples_out"`
	Lost       int64  `json:"lost"`
}

// DiffDesign says how the comparison was made.
type DiffDesign struct {
	Order    string   `json:"order"` // interleaved, blocked or unknown
	RunsBase int      `json:"runs_base"`
	RunsHead int      `json:"runs_head"`
	Margin   float64  `json:"margin"` // relative change that does not matter
	Warnings []string `json:"warnings"`
}

// DiffNormalization says what costs were divided by.
type DiffNormalization struct {
	Mode   string     `json:"mode"`
	By     string     `json:"by"`
	Factor *float64   `json:"factor"` // head's divisors over base's
	CI     []*float64 `json:"ci"`
}

// A DiffEvent is the total of an event on both sides.
type DiffEvent struct {
	Event         string            `json:"event"`
	Unit          string            `json:"unit"`
	Normalization DiffNormalization `json:"normalization"`
	Raw           DiffChange        `json:"raw"`      // not normalized
	Withheld      string            `json:"withheld"` // why there are no verdicts, or ""
	DiffChange
}

// A DiffFunction is a function in one event.
type DiffFunction struct {
	Name       string     `json:"name"`
	BaseName   string     `json:"base_name"` // "" if the function is new
	DSO        string     `json:"dso"`
	BaseDSO    string     `json:"base_dso"`
	Match      string     `json:"match"`
	Confidence float64    `json:"confidence"`
	Reason     string     `json:"reason"`
	Event      string     `json:"event"`
	Shift      *int       `json:"shift"` // index in shifts, or null
	Self       DiffChange `json:"self"`
	Total      DiffChange `json:"total"`
}

// A DiffShift is cost that moved between functions under one caller.
type DiffShift struct {
	Event  string   `json:"event"`
	Caller string   `json:"caller"`
	Parts  []string `json:"parts"`
	DiffChange
}

// A DiffRow is a category, thread or file in one event: self weight.
type DiffRow struct {
	Name  string `json:"name"`
	Event string `json:"event"`
	DiffChange
}

// DiffMetrics are several events of one function side by side; the first is for
// everything and has no name.
type DiffMetrics struct {
	Name             string   `json:"name"`
	DSO              string   `json:"dso"`
	DeltaCycles      *float64 `json:"delta_cycles"`
	FromInstructions *float64 `json:"delta_cycles_from_instructions"`
	FromIPC          *float64 `json:"delta_cycles_from_ipc"`
	IPCBase          *float64 `json:"ipc_base"`
	IPCHead          *float64 `json:"ipc_head"`
	MPKIBase         *float64 `json:"mpki_base"`
	MPKIHead         *float64 `json:"mpki_head"`
}

// A DiffChange is a normalized cost on both sides: means over runs, samples summed.
type DiffChange struct {
	Base  float64 `json:"base"`
	Head  float64 `json:"head"`
	Delta float64 `json:"delta"`
	// Ratio is head over base as the test estimates it, null where it is not finite;
	// an absent bound of the interval is null.
	Ratio       *float64   `json:"ratio"`
	CI          []*float64 `json:"ci"`
	Method      string     `json:"method"`
	P           float64    `json:"p"`
	Q           *float64   `json:"q"`      // in a family of what was found
	PHolm       *float64   `json:"p_holm"` // in a family of what was declared
	Verdict     string     `json:"verdict"`
	Capped      bool       `json:"capped"` // enough to warn, not to prove
	RunsNeeded  int        `json:"runs_needed"`
	Smallest    *float64   `json:"smallest_detectable"`
	WithinNoise bool       `json:"within_noise"`
	BaseSamples int64      `json:"base_samples"`
	HeadSamples int64      `json:"head_samples"`
	BaseNEff    float64    `json:"base_n_eff"`
	HeadNEff    float64    `json:"head_n_eff"`
}

// WriteDiffJSON writes a comparison as a DiffDocument.
func WriteDiffJSON(w io.Writer, c *compare.Comparison) error {
	d := DiffDocument{
		Schema: DiffSchema, Base: diffSide(c.Base), Head: diffSide(c.Head),
		Design: DiffDesign{
			Order: string(c.Order), RunsBase: len(c.Base), RunsHead: len(c.Head),
			Margin: c.Options.Margin, Warnings: append([]string{}, c.Warnings...),
		},
		Events: []DiffEvent{}, Functions: []DiffFunction{}, Shifts: []DiffShift{},
		Categories: []DiffRow{}, Threads: []DiffRow{}, DSOs: []DiffRow{}, Metrics: []DiffMetrics{},
	}
	for i := range c.Events {
		d.addEvent(&c.Events[i])
	}
	for _, m := range c.Metrics() {
		row := DiffMetrics{
			Name: m.Name, DSO: m.DSO, FromInstructions: finite(m.FromInstructions), FromIPC: finite(m.FromIPC),
			IPCBase: finite(m.IPC.Base), IPCHead: finite(m.IPC.Head), MPKIBase: finite(m.MPKI.Base), MPKIHead: finite(m.MPKI.Head),
		}
		if m.Cycles != nil {
			delta := m.Cycles.Delta()
			row.DeltaCycles = &delta
		}
		d.Metrics = append(d.Metrics, row)
	}
	return writeJSON(w, d)
}

func (d *DiffDocument) addEvent(e *compare.Event) {
	n := e.Normalization
	d.Events = append(d.Events, DiffEvent{
		Event: e.Name, Unit: e.Unit,
		Normalization: DiffNormalization{string(n.Mode), n.By, finite(n.Factor), interval(n.CI)},
		Raw:           diffChange(&e.Raw), Withheld: e.Withheld, DiffChange: diffChange(&e.Total),
	})
	firstShift := len(d.Shifts)
	for i := range e.Shifts {
		s := &e.Shifts[i]
		shift := DiffShift{Event: e.Name, Caller: e.Functions[s.Caller].Name, DiffChange: diffChange(&s.Net)}
		for _, p := range s.Parts {
			shift.Parts = append(shift.Parts, e.Functions[p].Name)
		}
		d.Shifts = append(d.Shifts, shift)
	}
	for i := range e.Functions {
		f := &e.Functions[i]
		row := DiffFunction{
			Name: f.Name, BaseName: f.BaseName, DSO: f.DSO, BaseDSO: f.BaseDSO,
			Match: string(f.Match.Kind), Confidence: f.Match.Confidence, Reason: f.Match.Reason,
			Event: e.Name, Self: diffChange(&f.Self), Total: diffChange(&f.Total),
		}
		if f.Shift >= 0 {
			index := firstShift + f.Shift
			row.Shift = &index
		}
		d.Functions = append(d.Functions, row)
	}
	for i := range e.Groups {
		g := &e.Groups[i]
		list, ok := map[run.GroupBy]*[]DiffRow{run.ByCategory: &d.Categories, run.ByThread: &d.Threads, run.ByDSO: &d.DSOs}[g.By]
		if !ok {
			continue
		}
		for j := range g.Rows {
			*list = append(*list, DiffRow{Name: g.Rows[j].Name, Event: e.Name, DiffChange: diffChange(&g.Rows[j].Self)})
		}
	}
}

func diffChange(c *compare.Change) DiffChange {
	d := DiffChange{
		Base: c.Base, Head: c.Head, Delta: c.Delta(), Ratio: finite(c.Ratio), CI: interval(c.CI),
		Method: string(c.Method), P: significant(c.P), Verdict: string(c.Verdict), Capped: c.Capped, RunsNeeded: c.RunsNeeded,
		WithinNoise: c.WithinNoise(), BaseSamples: c.BaseSamples, HeadSamples: c.HeadSamples,
		BaseNEff: c.BaseEffective, HeadNEff: c.HeadEffective,
	}
	if c.Tested {
		d.Smallest = finite(c.Smallest)
		adjusted := significant(c.Adjusted)
		if c.Declared {
			d.PHolm = &adjusted
		} else {
			d.Q = &adjusted
		}
	}
	return d
}

func interval(i stats.Interval) []*float64 { return []*float64{finite(i.Lo), finite(i.Hi)} }

// significant rounds to eight digits: more of a p-value are not computed alike on all
// machines.
func significant(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// finite returns nil for what JSON has no number for.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

func diffSide(side []*run.Run) DiffSide {
	s := DiffSide{Runs: []DiffRun{}}
	for _, r := range side {
		d := DiffRun{
			Path: r.Name, Format: r.Recording.Format, DurationNS: r.Recording.Duration.Nanoseconds(),
			SamplesIn: r.Accounting.In, SamplesOut: r.Accounting.Out, Lost: r.Accounting.Lost,
		}
		if !r.Recording.Start.IsZero() {
			d.RecordedAt = r.Recording.Start.Format(time.RFC3339Nano)
		}
		s.Runs = append(s.Runs, d)
	}
	return s
}
