package diff

import (
	"math"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// TestWaterfall checks that a waterfall ends where head is: nothing is counted twice, and what has no
// bar is in the rest.
func TestWaterfall(t *testing.T) {
	for _, test := range []struct {
		name string
		opt  comparetest.Options
	}{
		{"functions", comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true}},
		{"many", comparetest.Options{Frames: 5000, Depth: 30, Runs: 6, Change: true}},
		{"several events", comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true, Events: []string{"cpu-clock", "instructions", "off-cpu"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := comparetest.Compare(test.opt)
			if err != nil {
				t.Fatal(err)
			}
			d := New(c, Parts{})
			for i := range d.Events {
				e := &d.Events[i]
				w := e.Waterfall
				if w == nil {
					t.Errorf("%s has no waterfall", e.Name)
					continue
				}
				at, all := w.Base, 0.0
				for _, b := range w.Bars {
					at += b.Change.Delta
					if !b.Change.Verdict.Changed() {
						t.Errorf("%s: %s is not decided", e.Name, b.Name)
					}
				}
				if near := 1e-12 * max(w.Base, w.Head); math.Abs(at+w.Rest-w.Head) > near || w.Base != e.Total.Base || w.Head != e.Total.Head {
					t.Errorf("%s: %v, bars to %v, and the rest %v are not %v", e.Name, w.Base, at, w.Rest, w.Head)
				}
				// All that is compared adds up to the change of the total.
				for _, b := range e.selfCosts(w.By) {
					all += b.Change.Delta
				}
				if math.Abs(all-e.Total.Delta) > 1e-9*max(w.Base, w.Head) {
					t.Errorf("%s by %s: the changes add up to %v, the total changed by %v", e.Name, w.By, all, e.Total.Delta)
				}
				if len(w.Bars) > maxBars || len(w.Bars) < maxBars && w.Decided > 0 {
					t.Errorf("%s: %d bars, and %d more are decided", e.Name, len(w.Bars), w.Decided)
				}
			}
		})
	}
}

// TestWaterfallOfShares checks that shares lead from all to all.
func TestWaterfallOfShares(t *testing.T) {
	e := &Event{
		Name: "cpu-clock", Normalization: Normalization{Mode: OfTotal},
		Functions: []Function{
			{Name: "a", Shift: -1, Self: decidedChange(0.25, 0.5)},
			{Name: "b", Shift: 0, Self: decidedChange(0.125, 0.25)},
			{Name: "c", Shift: 0, Self: decidedChange(0.125, 0)},
			{Name: "d", Shift: -1, Self: Change{Base: 0.5, Head: 0.25, Delta: -0.25}},
		},
	}
	e.Shifts = []Shift{{CallerName: "a", Parts: []int{1, 2}, Net: Change{Base: 0.25, Head: 0.25}}}
	w := waterfall(e)
	if w == nil || w.Base != 1 || w.Head != 1 || len(w.Bars) != 1 || w.Bars[0].Name != "a" || w.Rest != -0.25 || w.By != run.ByFunction {
		t.Errorf("%+v", w)
	}
	e.Shifts[0].Net = decidedChange(0.25, 0.375)
	if w := waterfall(e); len(w.Bars) != 2 || w.Bars[1].Shift != &e.Shifts[0] || w.Rest != -0.375 {
		t.Errorf("with what moved: %+v", w)
	}
}

// TestNoWaterfall checks that nothing is drawn of what is not decided.
func TestNoWaterfall(t *testing.T) {
	for _, opt := range []comparetest.Options{{Frames: 400, Depth: 12, Runs: 8}, {Frames: 400, Depth: 12, Runs: 1, Change: true}} {
		c, err := comparetest.Compare(opt)
		if err != nil {
			t.Fatal(err)
		}
		d := New(c, Parts{})
		if d.Events[0].Waterfall != nil {
			t.Errorf("%+v has a waterfall", opt)
		}
	}
}

func decidedChange(base, head float64) Change {
	c := Change{Base: base, Head: head, Delta: head - base, Tested: true, Verdict: verdict.Regressed}
	if head < base {
		c.Verdict = verdict.Improved
	}
	return c
}

// TestMovers checks what tells of an event: where one function has all cost, categories do, and of
// functions that say nothing, threads.
func TestMovers(t *testing.T) {
	schedule := []Function{{Name: "schedule", Shift: -1, Self: decidedChange(99, 80)}, {Name: "other", Shift: -1, Self: Change{Base: 1, Head: 1}}}
	spread := []Function{{Name: "a", Shift: -1, Self: decidedChange(50, 31)}, {Name: "b", Shift: -1, Self: Change{Base: 50, Head: 50}}}
	groups := []Group{
		{By: run.ByThread, Rows: []Row{{Name: "main", Self: decidedChange(60, 41)}}},
		{By: run.ByCategory, Rows: []Row{{Name: "locks", Self: decidedChange(30, 11)}, {Name: "idle", Self: Change{Base: 70, Head: 70}}}},
	}
	for _, test := range []struct {
		name  string
		event Event
		by    run.GroupBy
		first string
	}{
		{"functions", Event{Functions: spread, Groups: groups}, run.ByFunction, "a"},
		{"one function", Event{Functions: schedule, Groups: groups}, run.ByCategory, "locks"},
		{"one function, no category", Event{Functions: schedule, Groups: groups[:1]}, run.ByThread, "main"},
		{"one function alone", Event{Functions: schedule}, run.ByFunction, "schedule"},
		{"no function", Event{Functions: spread[1:], Groups: groups}, run.ByCategory, "locks"},
	} {
		if by, list := test.event.Movers(); by != test.by || len(list) != 1 || list[0].Name != test.first {
			t.Errorf("%s: by %s: %+v", test.name, by, list)
		}
	}
	if _, list := (&Event{Functions: spread[1:]}).Movers(); len(list) > 0 {
		t.Errorf("nothing changed, but %+v", list)
	}
}
