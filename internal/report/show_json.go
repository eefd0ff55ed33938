package report

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"profdiff/internal/run"
)

// Schemas of the JSON outputs, the first field of each.
const (
	ShowSchema = "profdiff.show/v1"
	DiffSchema = "profdiff.diff/v1"
)

// A ShowDocument is what show prints as JSON.
type ShowDocument struct {
	Schema     string         `json:"schema"`
	Inputs     []ShowInput    `json:"inputs"`
	Events     []ShowEvent    `json:"events"`
	Counters   []ShowCounter  `json:"counters"`
	Functions  []ShowFunction `json:"functions"`
	Threads    []ShowGroup    `json:"threads"`
	DSOs       []ShowGroup    `json:"dsos"`
	Categories []ShowGroup    `json:"categories"`
}

// A ShowInput is a recording and what became of its samples.
type ShowInput struct {
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

// A ShowEvent is the total of an event.
type ShowEvent struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Derived bool    `json:"derived"`
	Samples int64   `json:"samples"`
	Weight  int64   `json:"weight"`
	NEff    float64 `json:"n_eff"`
}

// A ShowCounter is the total of a counter.
type ShowCounter struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Running float64 `json:"running"`
}

// ShowSum is what something costs in one event.
type ShowSum struct {
	Weight  int64 `json:"weight"`
	Samples int64 `json:"samples"`
}

// A ShowFunction is a function; sums are by event, events without samples left out.
type ShowFunction struct {
	Name       string             `json:"name"`
	SystemName string             `json:"system_name"`
	File       string             `json:"file"`
	DSO        string             `json:"dso"`
	Self       map[string]ShowSum `json:"self"`
	Total      map[string]ShowSum `json:"total"`
}

// A ShowGroup is a thread, a file, a category.
type ShowGroup struct {
	Name  string             `json:"name"`
	Self  map[string]ShowSum `json:"self"`
	Total map[string]ShowSum `json:"total"`
}

// WriteShowJSON writes a run as a ShowDocument. Of the options, only those count that
// choose categories and threads.
func WriteShowJSON(w io.Writer, r *run.Run, opt ShowOptions) error {
	rec := &r.Recording
	input := ShowInput{
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
	d := ShowDocument{
		Schema: ShowSchema, Inputs: []ShowInput{input},
		Events: []ShowEvent{}, Counters: []ShowCounter{}, Functions: []ShowFunction{},
	}
	for i := range r.Events {
		e := &r.Events[i]
		d.Events = append(d.Events, ShowEvent{Name: e.Name, Unit: e.Unit, Derived: e.Derived, Samples: e.Samples, Weight: e.Weight, NEff: e.EffectiveSamples()})
	}
	for _, c := range r.Counters {
		d.Counters = append(d.Counters, ShowCounter(c))
	}
	for _, row := range r.Group(run.ByFunction) {
		d.Functions = append(d.Functions, ShowFunction{
			Name: row.Name, SystemName: row.SystemName, File: row.File, DSO: row.DSO,
			Self: showSums(r, row.Self), Total: showSums(r, row.Total),
		})
	}
	d.Threads = showGroups(r, opt.group(r, run.ByThread))
	d.DSOs = showGroups(r, r.Group(run.ByDSO))
	d.Categories = showGroups(r, opt.group(r, run.ByCategory))
	return writeJSON(w, d)
}

func showGroups(r *run.Run, rows []run.Row) []ShowGroup {
	groups := []ShowGroup{}
	for _, row := range rows {
		groups = append(groups, ShowGroup{Name: row.Name, Self: showSums(r, row.Self), Total: showSums(r, row.Total)})
	}
	return groups
}

func showSums(r *run.Run, sums []run.Sum) map[string]ShowSum {
	m := make(map[string]ShowSum)
	for i, s := range sums {
		if s.Count != 0 || s.Weight != 0 {
			m[r.Events[i].Name] = ShowSum{Weight: s.Weight, Samples: s.Count}
		}
	}
	return m
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
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
