// Package show writes a recording as text and JSON.
package show

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// Schema is the first field of what show prints as JSON.
const Schema = "profdiff.show/v1"

// A Document is what show prints as JSON.
type Document struct {
	Schema     string     `json:"schema"`
	Inputs     []Input    `json:"inputs"`
	Events     []Event    `json:"events"`
	Counters   []Counter  `json:"counters"`
	Functions  []Function `json:"functions"`
	Threads    []Group    `json:"threads"`
	DSOs       []Group    `json:"dsos"`
	Categories []Group    `json:"categories"`
}

// A Input is a recording and what became of its samples.
type Input struct {
	Path               string           `json:"path"`
	Format             string           `json:"format"`
	Tool               string           `json:"tool"`
	Arch               string           `json:"arch"`
	Kernel             string           `json:"kernel"`
	Device             string           `json:"device"`
	RecordedAt         string           `json:"recorded_at"` // RFC 3339, "" if unknown
	DurationNS         int64            `json:"duration_ns"`
	SamplesIn          int64            `json:"samples_in"`
	SamplesOut         int64            `json:"samples_out"`
	SamplesFiltered    int64            `json:"samples_filtered"`
	Dropped            map[string]int64 `json:"dropped"`
	Lost               int64            `json:"lost"`
	UnknownFramesShare float64          `json:"unknown_frames_share"`
	Warnings           []string         `json:"warnings"`
}

// A Event is the total of an event.
type Event struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Derived bool    `json:"derived"`
	Samples int64   `json:"samples"`
	Weight  int64   `json:"weight"`
	NEff    float64 `json:"n_eff"`
}

// A Counter is the total of a counter.
type Counter struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Running float64 `json:"running"`
}

// Sum is what something costs in one event.
type Sum struct {
	Weight  int64 `json:"weight"`
	Samples int64 `json:"samples"`
}

// A Function is a function; sums are by event, events without samples left out.
type Function struct {
	Name       string         `json:"name"`
	SystemName string         `json:"system_name"`
	File       string         `json:"file"`
	DSO        string         `json:"dso"`
	Self       map[string]Sum `json:"self"`
	Total      map[string]Sum `json:"total"`
}

// A Group is a thread, a file, a category.
type Group struct {
	Name  string         `json:"name"`
	Self  map[string]Sum `json:"self"`
	Total map[string]Sum `json:"total"`
}

// WriteJSON writes a run as a Document. Of the options, only those count that
// choose categories and threads.
func WriteJSON(w io.Writer, r *run.Run, opt Options) error {
	rec := &r.Recording
	input := Input{
		Path: r.Name, Format: rec.Format, Tool: rec.Tool, Arch: rec.Arch, Kernel: rec.Kernel, Device: rec.Device,
		DurationNS: rec.Duration.Nanoseconds(),
		SamplesIn:  r.Accounting.In, SamplesOut: r.Accounting.Out, SamplesFiltered: r.Accounting.Filtered,
		Dropped: r.Accounting.Dropped, Lost: r.Accounting.Lost, UnknownFramesShare: r.Accounting.UnknownShare(),
		Warnings: r.Warnings,
	}
	if !rec.Start.IsZero() {
		input.RecordedAt = rec.Start.Format(time.RFC3339Nano)
	}
	if input.Dropped == nil {
		input.Dropped = map[string]int64{}
	}
	if input.Warnings == nil {
		input.Warnings = []string{}
	}
	d := Document{
		Schema: Schema, Inputs: []Input{input},
		Events: []Event{}, Counters: []Counter{}, Functions: []Function{},
	}
	for i := range r.Events {
		e := &r.Events[i]
		d.Events = append(d.Events, Event{Name: e.Name, Unit: e.Unit, Derived: e.Derived, Samples: e.Samples, Weight: e.Weight, NEff: e.EffectiveSamples()})
	}
	for _, c := range r.Counters {
		d.Counters = append(d.Counters, Counter(c))
	}
	for _, row := range r.Group(run.ByFunction) {
		d.Functions = append(d.Functions, Function{
			Name: row.Name, SystemName: row.SystemName, File: row.File, DSO: row.DSO,
			Self: sums(r, row.Self), Total: sums(r, row.Total),
		})
	}
	d.Threads = groups(r, opt.group(r, run.ByThread))
	d.DSOs = groups(r, r.Group(run.ByDSO))
	d.Categories = groups(r, opt.group(r, run.ByCategory))
	return text.WriteJSON(w, d)
}

func groups(r *run.Run, rows []run.Row) []Group {
	groups := []Group{}
	for _, row := range rows {
		groups = append(groups, Group{Name: row.Name, Self: sums(r, row.Self), Total: sums(r, row.Total)})
	}
	return groups
}

func sums(r *run.Run, sums []run.Sum) map[string]Sum {
	m := make(map[string]Sum)
	for i, s := range sums {
		if s.Count != 0 || s.Weight != 0 {
			m[r.Events[i].Name] = Sum{Weight: s.Weight, Samples: s.Count}
		}
	}
	return m
}

// sortRows orders rows by one event: self weight, then total, largest first, then
// name.
func sortRows(rows []run.Row, event int) []run.Row {
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b run.Row) int {
		return cmp.Or(
			-cmp.Compare(a.Self[event].Weight, b.Self[event].Weight), -cmp.Compare(a.Total[event].Weight, b.Total[event].Weight),
			strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO),
		)
	})
	return sorted
}
