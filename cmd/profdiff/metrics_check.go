package main

import (
	"fmt"

	"profdiff/internal/budget"
	"profdiff/internal/input"
	"profdiff/internal/metric"
)

// readStream reads the measured values of a stream: of plain numbers each file is a run, of another
// file it takes the metric of that name, or the only one.
func readStream(name string, files []string) (s budget.Stream, err error) {
	s.Files[1] = len(files)
	for _, file := range files {
		var set *metric.Set
		err := input.Read(file, nil, func(src *input.Source) (err error) {
			// What is of no format is numbers with a line that is none, which is said.
			if f, err := metric.Detect(src.Head); err != nil || f.Name == metric.Numbers {
				values, err := metric.ReadNumbers(src.Reader)
				s.Head = append(s.Head, values)
				return err
			}
			set, err = metric.Read(src)
			return err
		})
		if err != nil {
			return s, err
		}
		if set == nil {
			continue
		}
		m := streamOf(set.Metrics, name)
		if m == nil && len(set.Metrics) == 1 {
			m = set.Metrics[0]
		}
		if m == nil {
			return s, fmt.Errorf("%s: has no metric %s; the first of %d is %q", file, name, len(set.Metrics), set.Metrics[0].Name())
		}
		s.Unit, s.Scale, s.Direction, s.Why = m.Unit, m.Scale, m.Direction, m.Why
		s.Head = append(s.Head, valuesOf(m)...)
	}
	return s, nil
}

// valuesOf are the values by run. A run that is known by a summary alone has none.
func valuesOf(m *metric.Metric) (runs [][]float64) {
	for _, r := range m.Runs {
		if len(r.Values) > 0 {
			runs = append(runs, r.Values)
		}
	}
	return runs
}

// streamOf is the metric that a budget means: by its name, or by its subject or quantity if no other
// has it; nil if there is none.
func streamOf(metrics []*metric.Metric, name string) *metric.Metric {
	var part []*metric.Metric
	for _, m := range metrics {
		if m.Name() == name {
			return m
		}
		if m.Subject == name || m.Quantity == name {
			part = append(part, m)
		}
	}
	if len(part) == 1 {
		return part[0]
	}
	return nil
}

// addStream adds the values of one side, which are Head of what was read.
func addStream(streams map[string]budget.Stream, name string, side int, s budget.Stream) error {
	both, known := streams[name]
	if !known {
		both = s
		both.Base, both.Head, both.Files = nil, nil, [2]int{}
	}
	if both.Unit != s.Unit || both.Scale != s.Scale {
		return fmt.Errorf("%s: the sides differ in unit, %q and %q", name, both.Unit, s.Unit)
	}
	both.Files[side] += s.Files[1]
	if side == 0 {
		both.Base = append(both.Base, s.Head...)
	} else {
		both.Head = append(both.Head, s.Head...)
	}
	streams[name] = both
	return nil
}

// metricStreams are the streams of both sides of files of metrics, for the budgets of a file.
func metricStreams(streams map[string]budget.Stream, file *budget.File, sides [2][]*metric.Set) error {
	for side, sets := range sides {
		joined, err := metric.Join(metric.Blocks(sets))
		if err != nil {
			return err
		}
		for i := range file.Budgets {
			name := file.Budgets[i].Samples
			m := streamOf(joined, name)
			if m == nil {
				continue
			}
			if both, known := streams[name]; known && (side == 0 || len(both.Head) > 0) {
				continue // another budget of the same
			}
			if err := addStream(streams, name, side, budget.Stream{Head: valuesOf(m), Files: [2]int{1: len(sets)}, Unit: m.Unit, Scale: m.Scale, Direction: m.Direction, Why: m.Why}); err != nil {
				return err
			}
		}
	}
	return nil
}
