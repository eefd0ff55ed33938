package diff

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// maxBars is how many bars a waterfall has between those of the sides, beside the rest.
const maxBars = 8

// A Waterfall leads from the cost of an event before to that after: a bar for each decided
// change, the largest first, and one for the rest. Costs are self costs, which add up: Base, all
// bars and Rest are Head.
type Waterfall struct {
	// By is what the bars are of: functions, or a grouping of which no function tells.
	By         run.GroupBy
	Base, Head float64
	Bars       []Bar
	// Rest is what all else adds, Decided changes among it.
	Rest    float64
	Decided int
}

// A Bar is a change that is told.
type Bar struct {
	Name string
	// Function is an index in Event.Functions, or -1. Of cost that moved between functions it is
	// who calls them.
	Function int
	Shift    *Shift // nil if nothing moved
	Change   *Change
}

// waterfall is that of an event, nil if no change is decided.
func waterfall(e *Event) *Waterfall {
	by, bars := e.tells(func(c *Change) bool { return c.Tested && c.Verdict.Changed() })
	if len(bars) == 0 {
		return nil
	}
	w := &Waterfall{By: by, Base: e.Total.Base, Head: e.Total.Head, Bars: bars}
	if e.Shares() {
		w.Base, w.Head = 1, 1
	}
	slices.SortStableFunc(w.Bars, func(a, b Bar) int { return -cmp.Compare(math.Abs(a.Change.Delta), math.Abs(b.Change.Delta)) })
	if n := len(w.Bars); n > maxBars {
		w.Bars, w.Decided = w.Bars[:maxBars], n-maxBars
	}
	at := w.Base
	for i := range w.Bars {
		at += w.Bars[i].Change.Delta
	}
	w.Rest = w.Head - at
	return w
}

// Movers are what tells how an event changed: the changes of self costs that were decided, or that are
// leads, of functions, or else of categories or threads. A function that is a stronger lead in another
// event is none here.
func (e *Event) Movers() (by run.GroupBy, list []Bar) {
	return e.tells(func(c *Change) bool { return c.Lead != verdict.NoLead || c.Tested && c.Verdict.Changed() })
}

// Time off the CPU is spent in the scheduler, whatever is waited for: where one function has nearly all
// cost, functions tell last.
func (e *Event) tells(told func(*Change) bool) (by run.GroupBy, list []Bar) {
	order := []run.GroupBy{run.ByFunction, run.ByCategory, run.ByThread}
	if e.oneFunction() {
		order = []run.GroupBy{run.ByCategory, run.ByThread, run.ByFunction}
	}
	for _, by = range order {
		elsewhere := false
		for _, b := range e.selfCosts(by) {
			switch {
			case !told(b.Change):
			case b.Function >= 0 && b.Shift == nil && e.Functions[b.Function].Elsewhere:
				elsewhere = true
			default:
				list = append(list, b)
			}
		}
		if len(list) > 0 || elsewhere {
			break
		}
	}
	return by, list
}

// nearlyAll is the share of all cost of a function beside which others do not count.
const nearlyAll = 0.9

// oneFunction reports whether nearly all cost is of one function.
func (e *Event) oneFunction() bool {
	all, most := 0.0, 0.0
	for i := range e.Functions {
		c := e.Functions[i].Self.Base + e.Functions[i].Self.Head
		all, most = all+c, max(most, c)
	}
	return most > nearlyAll*all
}

// selfCosts are the changes of functions, or of a group, which add up to that of the event. Cost that
// moved between functions is one, and they are not.
func (e *Event) selfCosts(by run.GroupBy) (list []Bar) {
	if by == run.ByFunction {
		seen := make([]bool, len(e.Shifts))
		for i := range e.Functions {
			f := &e.Functions[i]
			switch s := f.Shift; {
			case s < 0:
				list = append(list, Bar{Name: f.Name, Function: i, Change: &f.Self})
			case !seen[s]:
				seen[s] = true
				list = append(list, Bar{Name: e.Shifts[s].CallerName, Function: e.Shifts[s].Caller, Shift: &e.Shifts[s], Change: &e.Shifts[s].Net})
			}
		}
		return list
	}
	for i := range e.Groups {
		if g := &e.Groups[i]; g.By == by {
			for j := range g.Rows {
				list = append(list, Bar{Name: g.Rows[j].Label(), Function: -1, Change: &g.Rows[j].Self})
			}
		}
	}
	return list
}
