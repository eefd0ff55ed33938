// Package diff writes a comparison as text, JSON, Markdown, folded stacks and pprof.
package diff

import (
	"io"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// Schema is the first field of what diff prints as JSON.
const Schema = "profdiff.diff/v1"

// A Document is what diff prints as JSON.
type Document struct {
	Schema     string     `json:"schema"`
	Base       Side       `json:"base"`
	Head       Side       `json:"head"`
	Design     Design     `json:"design"`
	Events     []Event    `json:"events"`
	Functions  []Function `json:"functions"`
	Shifts     []Shift    `json:"shifts"`
	Categories []Row      `json:"categories"`
	Threads    []Row      `json:"threads"`
	DSOs       []Row      `json:"dsos"`
	Metrics    []Metrics  `json:"metrics"`
}

// A Side is the recordings of one side.
type Side struct {
	Runs []Run `json:"runs"`
}

// A Run is one recording and what became of its samples.
type Run struct {
	Path       string `json:"path"`
	Format     string `json:"format"`
	RecordedAt string `json:"recorded_at"` // RFC 3339, "" if unknown
	DurationNS int64  `json:"duration_ns"`
	SamplesIn  int64  `json:"samples_in"`
	SamplesOut int64  `json:"samples_out"`
	Lost       int64  `json:"lost"`
}

// Design says how the comparison was made.
type Design struct {
	Order    string   `json:"order"` // interleaved, blocked or unknown
	RunsBase int      `json:"runs_base"`
	RunsHead int      `json:"runs_head"`
	Margin   float64  `json:"margin"` // relative change that does not matter
	Warnings []string `json:"warnings"`
}

// Normalization says what costs were divided by.
type Normalization struct {
	Mode   string     `json:"mode"`
	By     string     `json:"by"`
	Factor *float64   `json:"factor"` // head's divisors over base's
	CI     []*float64 `json:"ci"`
}

// A Event is the total of an event on both sides.
type Event struct {
	Event         string        `json:"event"`
	Unit          string        `json:"unit"`
	Normalization Normalization `json:"normalization"`
	Raw           Change        `json:"raw"`      // not normalized
	Withheld      string        `json:"withheld"` // why there are no verdicts, or ""
	Change
}

// A Function is a function in one event.
type Function struct {
	Name       string  `json:"name"`
	BaseName   string  `json:"base_name"` // "" if the function is new
	DSO        string  `json:"dso"`
	BaseDSO    string  `json:"base_dso"`
	Match      string  `json:"match"`
	Confidence float64 `json:"confidence"`
	Reason     string  `json:"reason"`
	Event      string  `json:"event"`
	Shift      *int    `json:"shift"` // index in shifts, or null
	Self       Change  `json:"self"`
	Total      Change  `json:"total"`
}

// A Shift is cost that moved between functions under one caller.
type Shift struct {
	Event  string   `json:"event"`
	Caller string   `json:"caller"`
	Parts  []string `json:"parts"`
	Change
}

// A Row is a category, thread or file in one event: self weight.
type Row struct {
	Name  string `json:"name"`
	Event string `json:"event"`
	Change
}

// Metrics are several events of one function side by side; the first is for
// everything and has no name.
type Metrics struct {
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

// A Change is a normalized cost on both sides: means over runs, samples summed.
type Change struct {
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

// WriteJSON writes a comparison as a Document.
func WriteJSON(w io.Writer, c *compare.Comparison) error {
	d := Document{
		Schema: Schema, Base: NewSide(c.Base), Head: NewSide(c.Head),
		Design: Design{
			Order: string(c.Order), RunsBase: len(c.Base), RunsHead: len(c.Head),
			Margin: c.Options.Margin, Warnings: append([]string{}, c.Warnings...),
		},
		Events: []Event{}, Functions: []Function{}, Shifts: []Shift{},
		Categories: []Row{}, Threads: []Row{}, DSOs: []Row{}, Metrics: []Metrics{},
	}
	for i := range c.Events {
		d.addEvent(&c.Events[i])
	}
	for _, m := range c.Metrics() {
		row := Metrics{
			Name: m.Name, DSO: m.DSO, FromInstructions: text.Finite(m.FromInstructions), FromIPC: text.Finite(m.FromIPC),
			IPCBase: text.Finite(m.IPC.Base), IPCHead: text.Finite(m.IPC.Head), MPKIBase: text.Finite(m.MPKI.Base), MPKIHead: text.Finite(m.MPKI.Head),
		}
		if m.Cycles != nil {
			delta := m.Cycles.Delta()
			row.DeltaCycles = &delta
		}
		d.Metrics = append(d.Metrics, row)
	}
	return text.WriteJSON(w, d)
}

func (d *Document) addEvent(e *compare.Event) {
	n := e.Normalization
	d.Events = append(d.Events, Event{
		Event: e.Name, Unit: e.Unit,
		Normalization: Normalization{string(n.Mode), n.By, text.Finite(n.Factor), text.FinitePair(n.CI.Lo, n.CI.Hi)},
		Raw:           newChange(&e.Raw), Withheld: e.Withheld, Change: newChange(&e.Total),
	})
	firstShift := len(d.Shifts)
	for i := range e.Shifts {
		s := &e.Shifts[i]
		shift := Shift{Event: e.Name, Caller: e.Functions[s.Caller].Name, Change: newChange(&s.Net)}
		for _, p := range s.Parts {
			shift.Parts = append(shift.Parts, e.Functions[p].Name)
		}
		d.Shifts = append(d.Shifts, shift)
	}
	for i := range e.Functions {
		f := &e.Functions[i]
		row := Function{
			Name: f.Name, BaseName: f.BaseName, DSO: f.DSO, BaseDSO: f.BaseDSO,
			Match: string(f.Match.Kind), Confidence: f.Match.Confidence, Reason: f.Match.Reason,
			Event: e.Name, Self: newChange(&f.Self), Total: newChange(&f.Total),
		}
		if f.Shift >= 0 {
			index := firstShift + f.Shift
			row.Shift = &index
		}
		d.Functions = append(d.Functions, row)
	}
	for i := range e.Groups {
		g := &e.Groups[i]
		list, ok := map[run.GroupBy]*[]Row{run.ByCategory: &d.Categories, run.ByThread: &d.Threads, run.ByDSO: &d.DSOs}[g.By]
		if !ok {
			continue
		}
		for j := range g.Rows {
			*list = append(*list, Row{Name: g.Rows[j].Name, Event: e.Name, Change: newChange(&g.Rows[j].Self)})
		}
	}
}

func newChange(c *compare.Change) Change {
	d := Change{
		Base: c.Base, Head: c.Head, Delta: c.Delta(), Ratio: text.Finite(c.Ratio), CI: text.FinitePair(c.CI.Lo, c.CI.Hi),
		Method: string(c.Method), P: text.Significant(c.P), Verdict: string(c.Verdict), Capped: c.Capped, RunsNeeded: c.RunsNeeded,
		WithinNoise: c.WithinNoise(), BaseSamples: c.BaseSamples, HeadSamples: c.HeadSamples,
		BaseNEff: c.BaseEffective, HeadNEff: c.HeadEffective,
	}
	if c.Tested {
		d.Smallest = text.Finite(c.Smallest)
		adjusted := text.Significant(c.Adjusted)
		if c.Declared {
			d.PHolm = &adjusted
		} else {
			d.Q = &adjusted
		}
	}
	return d
}

func NewSide(side []*run.Run) Side {
	s := Side{Runs: []Run{}}
	for _, r := range side {
		d := Run{
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
