package report

import (
	"io"
	"math"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

// A DiffDocument is what diff prints as JSON.
type DiffDocument struct {
	Schema    string         `json:"schema"`
	Base      DiffSide       `json:"base"`
	Head      DiffSide       `json:"head"`
	Design    DiffDesign     `json:"design"`
	Events    []DiffEvent    `json:"events"`
	Functions []DiffFunction `json:"functions"`
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
	RunsBase      int               `json:"runs_base"`
	RunsHead      int               `json:"runs_head"`
	Normalization DiffNormalization `json:"normalization"`
	Warnings      []string          `json:"warnings"`
}

// DiffNormalization says by what head weights were divided.
type DiffNormalization struct {
	Mode   string  `json:"mode"`
	Factor float64 `json:"factor"`
}

// A DiffEvent is the total of an event on both sides: means over runs.
type DiffEvent struct {
	Event string     `json:"event"`
	Unit  string     `json:"unit"`
	Noise string     `json:"noise"`
	Base  float64    `json:"base"`
	Head  float64    `json:"head"`
	Ratio *float64   `json:"ratio"` // head over base, null where base is 0
	CI    []*float64 `json:"ci"`    // of the ratio; an absent upper bound is null
}

// A DiffFunction is a function in one event.
type DiffFunction struct {
	Name  string     `json:"name"`
	DSO   string     `json:"dso"`
	Match string     `json:"match"`
	Event string     `json:"event"`
	Self  DiffChange `json:"self"`
	Total DiffChange `json:"total"`
}

// A DiffChange is a cost on both sides: means over runs, samples summed.
type DiffChange struct {
	Base        float64    `json:"base"`
	Head        float64    `json:"head"`
	Delta       float64    `json:"delta"`
	Ratio       *float64   `json:"ratio"`
	CI          []*float64 `json:"ci"`
	WithinNoise bool       `json:"within_noise"`
	BaseSamples int64      `json:"base_samples"`
	HeadSamples int64      `json:"head_samples"`
}

// WriteDiffJSON writes a comparison as a DiffDocument.
func WriteDiffJSON(w io.Writer, c *compare.Comparison) error {
	d := DiffDocument{
		Schema: DiffSchema, Base: diffSide(c.Base), Head: diffSide(c.Head),
		Design: DiffDesign{
			RunsBase: len(c.Base), RunsHead: len(c.Head),
			Normalization: DiffNormalization{Mode: "none", Factor: 1}, Warnings: c.Warnings,
		},
		Events: []DiffEvent{}, Functions: []DiffFunction{},
	}
	if d.Design.Warnings == nil {
		d.Design.Warnings = []string{}
	}
	for i := range c.Events {
		e := &c.Events[i]
		d.Events = append(d.Events, DiffEvent{
			Event: e.Name, Unit: e.Unit, Noise: string(e.Noise), Base: e.Total.Base, Head: e.Total.Head,
			Ratio: finite(e.Total.Ratio()), CI: interval(&e.Total),
		})
		for j := range e.Functions {
			f := &e.Functions[j]
			d.Functions = append(d.Functions, DiffFunction{
				Name: f.Name, DSO: f.DSO, Match: match(f), Event: e.Name, Self: diffChange(&f.Self), Total: diffChange(&f.Total),
			})
		}
	}
	return writeJSON(w, d)
}

func match(f *compare.Function) string {
	switch {
	case f.Total.BaseSamples == 0:
		return "added"
	case f.Total.HeadSamples == 0:
		return "removed"
	}
	return "exact"
}

func diffChange(c *compare.Change) DiffChange {
	return DiffChange{
		Base: c.Base, Head: c.Head, Delta: c.Delta(), Ratio: finite(c.Ratio()), CI: interval(c),
		WithinNoise: c.WithinNoise(), BaseSamples: c.BaseSamples, HeadSamples: c.HeadSamples,
	}
}

func interval(c *compare.Change) []*float64 { return []*float64{finite(c.CI.Lo), finite(c.CI.Hi)} }

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
