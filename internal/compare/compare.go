// Package compare compares two sets of Runs and says which differences are real.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// ErrNoCommonEvent is returned if the sides have no event in common.
var ErrNoCommonEvent = errors.New("no common event")

// level is the confidence level of all intervals.
const level = 0.95

// A Comparison is the result of comparing two sides, each of one run or more.
type Comparison struct {
	Base, Head []*run.Run
	Events     []Event
	// Warnings tell why numbers of this comparison deserve less trust.
	Warnings []string
}

// Noise says what an interval covers.
type Noise string

const (
	// SamplingNoise: one run a side. How runs differ is unknown.
	SamplingNoise Noise = "sampling noise only: one run a side"
	// RunNoise: differences between the runs of a side.
	RunNoise Noise = "noise between runs"
)

// An Event is what one event says.
type Event struct {
	// Name is the event as the base side has it.
	Name, Unit string
	Noise      Noise
	Total      Change
	Functions  []Function
}

// A Function is one function on both sides.
type Function struct {
	Name, SystemName string
	DSO              string // the file's base name
	Self, Total      Change
}

// A Change is a cost on both sides.
type Change struct {
	// Base and Head are weights: means over the runs of the side.
	Base, Head float64
	// BaseSamples and HeadSamples are numbers of samples: sums over the runs.
	BaseSamples, HeadSamples int64
	// CI is the 95 % interval of the ratio Head/Base. Hi is +Inf where there is
	// no upper bound.
	CI stats.Interval
}

// Delta is Head minus Base.
func (c *Change) Delta() float64 { return c.Head - c.Base }

// Ratio is Head over Base: +Inf if there was nothing before, NaN if there is nothing
// at all.
func (c *Change) Ratio() float64 { return c.Head / c.Base }

// WithinNoise reports whether noise alone can explain the change.
func (c *Change) WithinNoise() bool { return c.CI.Contains(1) }

// Compare compares two sides. Functions are paired by name and file.
func Compare(base, head []*run.Run) (*Comparison, error) {
	c := &Comparison{Base: base, Head: head}
	pairs, err := pairEvents(base, head)
	if err != nil {
		return nil, err
	}
	baseTable, headTable := newTable(base), newTable(head)
	for _, p := range pairs {
		c.Events = append(c.Events, compareEvent(p, baseTable, headTable))
	}
	c.check()
	return c, nil
}

// eventPair is one event with its index in each run.
type eventPair struct {
	name, unit string
	base, head []int // index in Run.Events by run, -1 if absent
}

// pairEvents finds the events that every run of both sides has, in the order of the
// first base run.
func pairEvents(base, head []*run.Run) ([]eventPair, error) {
	var pairs []eventPair
	for i := range base[0].Events {
		e := &base[0].Events[i]
		p := eventPair{name: e.Name, unit: e.Unit}
		find := func(side []*run.Run) (at []int, ok bool) {
			for _, r := range side {
				j, found := r.EventIndex(e.Name)
				if !found || r.Events[j].Unit != e.Unit {
					return nil, false
				}
				at = append(at, j)
			}
			return at, true
		}
		var okBase, okHead bool
		p.base, okBase = find(base)
		p.head, okHead = find(head)
		if okBase && okHead {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%w: %s has %s; %s has %s", ErrNoCommonEvent,
			base[0].Name, base[0].EventNames(), head[0].Name, head[0].EventNames())
	}
	return pairs, nil
}

// functionKey pairs functions of different runs. Directories differ between
// devices and installations, the file's base name does not.
type functionKey struct{ name, dso string }

// A table holds what each function costs in each run of a side.
type table struct {
	runs []*run.Run
	rows []map[functionKey]*run.Row // by run
}

func newTable(side []*run.Run) *table {
	t := &table{runs: side}
	for _, r := range side {
		byKey := make(map[functionKey]*run.Row)
		for _, row := range r.Group(run.ByFunction) {
			key := functionKey{row.Name, row.DSO[strings.LastIndexByte(row.DSO, '/')+1:]}
			if known, ok := byKey[key]; ok {
				addSums(known.Self, row.Self)
				addSums(known.Total, row.Total)
				continue
			}
			byKey[key] = &row
		}
		t.rows = append(t.rows, byKey)
	}
	return t
}

func addSums(a, b []run.Sum) {
	for i := range a {
		a[i].Weight += b[i].Weight
		a[i].Count += b[i].Count
		a[i].WeightSq += b[i].WeightSq
	}
}

// keys lists the functions that any run of the side has.
func (t *table) keys(into map[functionKey]bool) {
	for _, rows := range t.rows {
		for key := range rows {
			into[key] = true
		}
	}
}

func compareEvent(p eventPair, base, head *table) Event {
	e := Event{Name: p.name, Unit: p.unit, Noise: RunNoise}
	if len(base.runs) == 1 && len(head.runs) == 1 {
		e.Noise = SamplingNoise
	}
	whole := func(t *table, at []int) []run.Sum {
		sums := make([]run.Sum, len(t.runs))
		for i, r := range t.runs {
			ev := &r.Events[at[i]]
			sums[i] = run.Sum{Weight: ev.Weight, Count: ev.Samples, WeightSq: ev.WeightSq}
		}
		return sums
	}
	e.Total = change(whole(base, p.base), whole(head, p.head))
	keys := make(map[functionKey]bool)
	base.keys(keys)
	head.keys(keys)
	for key := range keys {
		f := Function{Name: key.name, DSO: key.dso}
		series := func(t *table, at []int) (self, total []run.Sum) {
			self, total = make([]run.Sum, len(t.runs)), make([]run.Sum, len(t.runs))
			for i := range t.runs {
				// A function absent from a run is a zero.
				if row, ok := t.rows[i][key]; ok {
					self[i], total[i] = row.Self[at[i]], row.Total[at[i]]
					f.SystemName = row.SystemName
				}
			}
			return self, total
		}
		selfBase, totalBase := series(base, p.base)
		selfHead, totalHead := series(head, p.head)
		f.Self, f.Total = change(selfBase, selfHead), change(totalBase, totalHead)
		if f.Total.BaseSamples != 0 || f.Total.HeadSamples != 0 {
			e.Functions = append(e.Functions, f)
		}
	}
	slices.SortFunc(e.Functions, func(a, b Function) int {
		return cmp.Or(
			-cmp.Compare(math.Abs(a.Self.Delta()), math.Abs(b.Self.Delta())),
			-cmp.Compare(math.Abs(a.Total.Delta()), math.Abs(b.Total.Delta())),
			strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO),
		)
	})
	return e
}

// change compares one quantity, given by run.
func change(base, head []run.Sum) Change {
	var c Change
	c.Base, c.BaseSamples = mean(base)
	c.Head, c.HeadSamples = mean(head)
	if len(base) == 1 && len(head) == 1 {
		c.CI = stats.SamplingRatio(weighted(base[0]), weighted(head[0]), level)
		return c
	}
	c.CI, _ = stats.WelchRatio(weights(base), weights(head), level)
	return c
}

func weighted(s run.Sum) stats.WeightedCount {
	return stats.WeightedCount{Weight: float64(s.Weight), WeightSq: s.WeightSq}
}

func weights(sums []run.Sum) []float64 {
	w := make([]float64, len(sums))
	for i, s := range sums {
		w[i] = float64(s.Weight)
	}
	return w
}

func mean(sums []run.Sum) (weight float64, samples int64) {
	for _, s := range sums {
		weight += float64(s.Weight)
		samples += s.Count
	}
	return weight / float64(len(sums)), samples
}

// check warns of what makes the sides hard to compare.
func (c *Comparison) check() {
	for _, e := range c.Events {
		for _, side := range [][]*run.Run{c.Base, c.Head} {
			for _, r := range side {
				if i, ok := r.EventIndex(e.Name); ok && r.Events[i].WeightSqLowerBound {
					c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s: the input does not tell single samples apart, intervals are the narrowest possible", r.Name, e.Name))
				}
			}
		}
	}
	for _, side := range [][]*run.Run{c.Base, c.Head} {
		for _, r := range side {
			for _, w := range r.Warnings {
				c.Warnings = append(c.Warnings, r.Name+": "+w)
			}
		}
	}
}
