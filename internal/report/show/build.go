package show

import (
	"cmp"
	"slices"
	"time"

	"profdiff/internal/category"
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// Parts say what of a run is in its document, beside what all outputs show.
type Parts struct {
	// Lists are functions, threads, files and categories.
	Lists bool
	// Rows are of what By says, "" for none.
	By run.GroupBy
	// Trees are the call trees.
	Trees bool
	// Categories are what run.ByCategory sorts into, nil for the built-in set.
	Categories *category.Set
	// EachThread tells the threads of a pool apart.
	EachThread bool
	// Waits say who waited for whom, by the rules Regions too, nil for the built-in ones.
	Waits   bool
	Regions *wait.Rules
}

// New makes the document of a run.
func New(r *run.Run, parts Parts) *Document {
	rec := &r.Recording
	input := Input{
		Path: r.Name, Format: rec.Format, Tool: rec.Tool, Arch: rec.Arch, Kernel: rec.Kernel, Device: rec.Device,
		DurationNS: rec.Duration.Nanoseconds(),
		SamplesIn:  r.Accounting.In, SamplesOut: r.Accounting.Out, SamplesFiltered: r.Accounting.Filtered,
		Dropped: r.Accounting.Dropped, Lost: r.Accounting.Lost, UnknownFramesShare: r.Accounting.UnknownShare(),
		Unwound:  r.Accounting.Unwound.Known(),
		Warnings: r.AllWarnings(), Recording: r.Recording,
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
	d := &Document{
		Schema: Schema, Inputs: []Input{input},
		Events: []Event{}, Counters: []Counter{}, Functions: []Function{},
	}
	for i := range r.Measured {
		d.measured = append(d.measured, measured(r.Measured[i]))
	}
	slices.SortStableFunc(d.measured, func(a, b measured) int { return cmp.Compare(len(b.Values), len(a.Values)) })
	for i := range r.Events {
		e := &r.Events[i]
		d.Events = append(d.Events, Event{Name: e.Name, Unit: e.Unit, Derived: e.Derived, Samples: e.Samples, Weight: e.Weight, NEff: e.EffectiveSamples(), Simulated: e.Simulated, AtMost: e.WeightSqLowerBound})
	}
	for _, c := range r.Counters {
		d.Counters = append(d.Counters, Counter(c))
	}
	if parts.Waits {
		if w := wait.New(r, parts.Regions); w.Known() || parts.By == run.ByLock {
			d.Waits = w
		}
	}
	if parts.By != "" {
		d.By, d.Rows = parts.By, parts.group(r, parts.By)
	}
	if parts.Trees {
		for e := range r.Events {
			d.Trees = append(d.Trees, r.Tree(e))
		}
	}
	if parts.Lists {
		for _, row := range r.Group(run.ByFunction) {
			f := Function{Name: row.Name, DSO: row.DSO, Self: sums(r, row.Self), Total: sums(r, row.Total)}
			if row.Function != nil {
				f.SystemName, f.File = row.Function.SystemName, row.Function.File
			}
			d.Functions = append(d.Functions, f)
		}
		d.Threads = groups(r, parts.group(r, run.ByThread))
		d.DSOs = groups(r, r.Group(run.ByDSO))
		d.Categories = groups(r, parts.group(r, run.ByCategory))
	}
	return d
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

// group sums the samples of a run.
func (o *Parts) group(r *run.Run, by run.GroupBy) []run.Row {
	switch {
	case by == run.ByCategory && o.Categories == nil:
		return category.Builtin().Group(r)
	case by == run.ByCategory:
		return o.Categories.Group(r)
	case by == run.ByThread && o.EachThread:
		by = run.ByEachThread
	}
	return r.Group(by)
}
