package gecko

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"profdiff/internal/run"
)

// Phases of markers.
const (
	instant = iota
	interval
	intervalStart
	intervalEnd
)

// A lasting is a marker that lasts. Times are in nanoseconds.
type lasting struct {
	start, end int64
	location   uint32
}

// addMarkers adds the markers of a thread that last as slices. Those that neither lie within each other nor apart, as of what
// a thread has begun and waits for, have no callers: they are slices of no thread.
func (g *reader) addMarkers(t *thread, n *names, labels uint32) error {
	list, err := g.lasting(&t.markers, n)
	if err != nil {
		return fmt.Errorf("markers: %w", err)
	}
	slices.SortStableFunc(list, func(a, b lasting) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	type opened struct {
		lasting
		stack run.StackID
		self  int64
	}
	var open []opened
	add := func(event string, stack run.StackID, weight int64) {
		e := g.b.Event(run.Event{Name: event, Unit: "nanoseconds"})
		g.b.AddSum(e, stack, labels, 1, weight, float64(weight)*float64(weight))
		g.b.Run().Accounting.In++
	}
	closeUntil := func(time int64) {
		for len(open) > 0 && open[len(open)-1].end <= time {
			last := &open[len(open)-1]
			add("slices", last.stack, last.self)
			open = open[:len(open)-1]
		}
	}
	for _, m := range list {
		closeUntil(m.start)
		o := opened{m, 0, m.end - m.start}
		if len(open) > 0 {
			caller := &open[len(open)-1]
			if m.end > caller.end || len(open) == maxNested {
				add("async-slices", g.b.Stack(0, m.location), o.self)
				continue
			}
			caller.self -= o.self
			o.stack = caller.stack
		}
		o.stack = g.b.Stack(o.stack, m.location)
		open = append(open, o)
	}
	closeUntil(math.MaxInt64)
	return nil
}

// maxNested is the most markers within each other.
const maxNested = 512

// lasting are the markers that last; those of which the profile has a start or an end only are dropped.
func (g *reader) lasting(t *table, n *names) ([]lasting, error) {
	columns := make(map[string][]float64)
	for _, name := range []string{"name", "startTime", "endTime", "phase"} {
		c, ok := t.column(name)
		if !ok {
			return nil, nil // of versions that do not tell what lasts
		}
		columns[name] = c
	}
	at := func(column string, row int) (ns int64, ok bool) {
		c := columns[column]
		if row >= len(c) || !(math.Abs(c[row]) < mostMilliseconds) {
			return 0, false
		}
		return int64(c[row] * 1e6), true
	}
	var list []lasting
	begun := make(map[int][]int64) // starts, by name
	account := &g.b.Run().Accounting
	drop := func(n int) {
		account.In += int64(n)
		account.Drop("markers that do not start or end", int64(n))
	}
	locations := make(map[int]uint32)
	for row := range t.rows {
		name, ok, err := index(columns["name"], row, len(n.tables.strings))
		if err != nil || !ok {
			return nil, errors.Join(err, fmt.Errorf("row %d has no name", row))
		}
		start, hasStart := at("startTime", row)
		end, hasEnd := at("endTime", row)
		phase := -1.0
		if c := columns["phase"]; row < len(c) {
			phase = c[row]
		}
		switch {
		case phase == intervalStart && hasStart:
			begun[name] = append(begun[name], start)
			continue
		case phase == intervalEnd && hasEnd && len(begun[name]) > 0:
			last := len(begun[name]) - 1
			start, begun[name] = begun[name][last], begun[name][:last]
			hasStart = true
		case phase == intervalEnd, phase == intervalStart, phase == interval && !(hasStart && hasEnd):
			drop(1)
			continue
		case phase != interval:
			g.instants++
			continue
		}
		if !hasStart || !hasEnd || end < start {
			drop(1)
			continue
		}
		loc, known := locations[name]
		if !known {
			loc = g.b.Location(0, 0, run.Line{Function: g.b.Function(run.Function{Name: n.tables.strings[name]})})
			locations[name] = loc
		}
		list = append(list, lasting{start, end, loc})
	}
	for _, starts := range begun {
		drop(len(starts))
	}
	return list, nil
}
