package diff

import (
	"fmt"
	"math"

	"profdiff/internal/branch"
)

// Savings are the cycles that follow from the change of misses, beside those that were
// measured. All are head less base, per unit of work: negative is saved.
type Savings struct {
	Misses       branch.Estimate
	Instructions *float64 // nil if unknown
	// IPC are the instructions per cycle without misses, from lowest to highest.
	IPC       [2]float64
	IPCSource string
	Cost      *branch.Cost
	Predicted branch.Estimate
	Measured  *float64 // nil if cycles are not known
	// Finding says how the two agree, "" if only one is known.
	Finding string
}

// Instructions per cycle of code without misses, if there are no cycles to tell.
const (
	leastIPC = 1
	mostIPC  = 4
)

// savings predicts the cycles that the change of misses saves.
func (c *comparison) savings() {
	cost := commonCost(c.base.tables[0].Cost, c.head.tables[0].Cost)
	if cost == nil || c.entries || c.d.Total == nil || len(c.d.Different) > 0 {
		return
	}
	s := &Savings{Cost: cost, Misses: c.missDelta()}
	baseCycles, headCycles := mean(c.base.tables, func(t *branch.Table) *float64 { return t.Cycles }), mean(c.head.tables, func(t *branch.Table) *float64 { return t.Cycles })
	if c.opt.Cycles != nil {
		baseCycles, headCycles = &c.opt.Cycles[0], &c.opt.Cycles[1]
	}
	instructions := func(t *branch.Table) *float64 { return t.Instructions }
	baseI, headI := mean(c.base.tables, instructions), mean(c.head.tables, instructions)
	baseUnits, headUnits := meanUnits(c.baseUnits), meanUnits(c.headUnits)
	if baseI != nil && headI != nil {
		d := *headI/headUnits - *baseI/baseUnits
		if c.d.Normalization.Mode == PerInstruction {
			d = 0
		}
		s.Instructions = &d
	}
	s.IPC, s.IPCSource = ipc(baseI, baseCycles, c.d.Total.Base*baseUnits, cost)
	s.Predicted = s.predict()
	if baseCycles != nil && headCycles != nil {
		d := *headCycles/headUnits - *baseCycles/baseUnits
		s.Measured = &d
		s.Finding = s.finding(*baseCycles / baseUnits)
	}
	c.d.Savings = s
}

func meanUnits(list []units) (sum float64) {
	for _, u := range list {
		sum += u.n / float64(len(list))
	}
	return sum
}

// commonCost is what a miss costs on either side.
func commonCost(a, b *branch.Cost) *branch.Cost {
	switch {
	case a == nil || b == nil:
		return nil
	case a.Lo == b.Lo && a.Hi == b.Hi:
		return a
	}
	c := *a
	c.Lo, c.Centre, c.Hi = min(a.Lo, b.Lo), (a.Centre+b.Centre)/2, max(a.Hi, b.Hi)
	return &c
}

// missDelta is the change of all misses with its interval, from the interval of the ratio.
func (c *comparison) missDelta() branch.Estimate {
	t := c.d.Total
	e := branch.Estimate{Value: t.Delta(), Lo: math.Inf(-1), Hi: math.Inf(1)}
	if t.Base > 0 {
		e.Lo, e.Hi = t.Base*(t.CI.Lo-1), t.Base*(t.CI.Hi-1)
	}
	if c.d.Counted {
		e.Lo, e.Hi = e.Value, e.Value
	}
	return e
}

// ipc is between all instructions by all cycles and by those without misses.
func ipc(instructions, cycles *float64, misses float64, cost *branch.Cost) (span [2]float64, source string) {
	if instructions == nil || cycles == nil || *cycles <= 0 || *instructions <= 0 {
		return [2]float64{leastIPC, mostIPC}, "assumed, cycles being unknown"
	}
	lo := *instructions / *cycles
	hi := max(mostIPC, lo)
	if rest := *cycles - misses*cost.Centre; rest > 0 {
		hi = min(hi, *instructions/rest)
	}
	return [2]float64{lo, max(lo, hi)}, "of base, with and without the cycles of misses"
}

// predict is -ΔN·P + ΔI/IPC. Its interval spans what each of the terms may be.
func (s *Savings) predict() branch.Estimate {
	e := branch.Estimate{Value: s.Misses.Value * s.Cost.Centre, Lo: math.Inf(1), Hi: math.Inf(-1)}
	for _, m := range []float64{s.Misses.Lo, s.Misses.Hi} {
		for _, p := range []float64{s.Cost.Lo, s.Cost.Hi} {
			e.Lo, e.Hi = min(e.Lo, m*p), max(e.Hi, m*p)
		}
	}
	if d := s.Instructions; d != nil && *d != 0 {
		a, b := *d/s.IPC[0], *d/s.IPC[1]
		e.Value += *d / math.Sqrt(s.IPC[0]*s.IPC[1])
		e.Lo, e.Hi = e.Lo+min(a, b), e.Hi+max(a, b)
	}
	return e
}

// finding compares what was predicted with what was measured, of so many cycles in all.
func (s *Savings) finding(cycles float64) string {
	p, m := s.Predicted.Value, *s.Measured
	const small = 0.01
	switch {
	case max(math.Abs(p), math.Abs(m)) < small*cycles:
		return "both are below 1 % of the cycles"
	case p*m > 0 && math.Abs(math.Log(m/p)) <= math.Ln2:
		return "they agree within a factor of two"
	case s.Predicted.Lo <= m && m <= s.Predicted.Hi:
		return "they differ by more than a factor of two, which what a miss costs leaves open"
	case p*m > 0 && math.Abs(m) > math.Abs(p):
		return fmt.Sprintf("%.3g times what was predicted was measured: misses are not all that changed", m/p)
	}
	return "they differ by more than a factor of two: the misses were not on the critical path, or something else changed too"
}
