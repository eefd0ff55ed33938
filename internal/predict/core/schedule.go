package core

import (
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// A Schedule is a trace that a core is to run.
type Schedule struct {
	core    *Core
	trace   *flow.Trace
	timings []*timing
	sources []source // of loads, nil if none has its value from a store of late
	variant int
	nested  bool
}

// Schedule prepares to run a trace with the timings of its instructions. passes say how
// the steps use memory, see [Forwarding]. A function may be at several places, of which
// variant is one; nested is set if there are loops within the loop.
func (c *Core) Schedule(t *flow.Trace, timings Timings, passes [][]interpret.Access, variant int, nested bool) *Schedule {
	s := &Schedule{core: c, trace: t, timings: make([]*timing, len(t.Steps)), variant: variant, nested: nested}
	for i := range t.Steps {
		s.timings[i] = timings[t.Steps[i].Site]
	}
	s.sources = c.Forwarding.sources(t, passes)
	return s
}

// Cycles is what a step takes on average once the pipeline is full.
func (s *Schedule) Cycles(costs Costs) float64 {
	return steadyCycles(s.core.run(s.trace.Steps, s.timings, runOptions{Costs: costs, variant: s.variant, nested: s.nested, sources: s.sources}))
}
