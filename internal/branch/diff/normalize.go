package diff

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
)

// units is the work of one run, in n, and of each kind of core if there are several.
type units struct {
	n, variance float64
	byPMU       map[string]units
}

// maxWork is by how much the work of two sides may differ unless the user says how much
// it was.
const maxWork = 10

// normalize finds what misses are divided by.
func (c *comparison) normalize() error {
	n := &c.d.Normalization
	n.Mode = c.opt.Normalize
	if n.Mode == "" {
		n.Mode = NormalizeAuto
	}
	all := slices.Concat(c.base.tables, c.head.tables)
	lacks := func(has func(*branch.Table) bool) *branch.Table {
		if i := slices.IndexFunc(all, func(t *branch.Table) bool { return !has(t) }); i >= 0 {
			return all[i]
		}
		return nil
	}
	instructions := func(t *branch.Table) bool {
		if len(t.Totals) > 1 {
			return !slices.ContainsFunc(t.Totals, func(p branch.Totals) bool { return p.Instructions == nil || p.Instructions.Value <= 0 })
		}
		return t.Instructions != nil && *t.Instructions > 0
	}
	c.entries = lacks(func(t *branch.Table) bool { return t.Scaled }) != nil
	if c.entries {
		if t := lacks(func(t *branch.Table) bool { return t.Stacks != nil && t.Stacks.Rated > 0 }); t != nil {
			return fmt.Errorf("%s: does not tell how often branches were executed", t.Name)
		}
	}
	switch {
	case n.Mode == PerWork && c.opt.Ops == nil:
		return errors.New("normalizing by work needs the number of operations")
	case n.Mode == NormalizeAuto && c.opt.Ops != nil:
		n.Mode = PerWork
	case n.Mode == NormalizeAuto && c.d.Counted:
		n.Mode = PerRun
	case n.Mode == NormalizeAuto && lacks(instructions) == nil:
		n.Mode = PerInstruction
	case n.Mode == NormalizeAuto:
		n.Mode = PerRun
	case n.Mode == PerInstruction && lacks(instructions) != nil:
		return fmt.Errorf("%s: does not tell how many instructions were executed", lacks(instructions).Name)
	}
	if c.opt.Ops == nil {
		if err := c.sameWork(); err != nil {
			return err
		}
	}
	if c.entries {
		n.Mode = PerEntry
	}
	c.units()
	c.executions()
	if n.Mode == PerReference {
		if !(n.Executions > 0) || math.IsInf(n.Executions, 0) {
			return errors.New("no branch is known to be executed on both sides: there is no reference")
		}
		for i := range c.headUnits {
			c.headUnits[i].n *= n.Executions
		}
	}
	var sum [2]float64
	for i, side := range [][]units{c.baseUnits, c.headUnits} {
		for _, u := range side {
			sum[i] += u.n / float64(len(side))
		}
	}
	n.Factor = sum[1] / sum[0]
	return nil
}

// sameWork refuses sides of which one is many times the other.
func (c *comparison) sameWork() error {
	for _, what := range []struct {
		name string
		of   func(*branch.Table) *float64
	}{
		{"cycles", func(t *branch.Table) *float64 { return t.Cycles }},
		{"instructions", func(t *branch.Table) *float64 { return t.Instructions }},
	} {
		a, b := mean(c.base.tables, what.of), mean(c.head.tables, what.of)
		if what.name == "cycles" && c.opt.Cycles != nil {
			a, b = &c.opt.Cycles[0], &c.opt.Cycles[1]
		}
		if a == nil || b == nil || *a <= 0 || *b <= 0 {
			continue
		}
		if r := math.Max(*a / *b, *b / *a); r > maxWork {
			return fmt.Errorf("%s of the sides differ by a factor of %.3g: they did not do the same work; tell how much each did with --ops", what.name, r)
		}
		return nil
	}
	return nil
}

// mean is that over runs, nil if one of them does not have it.
func mean(tables []*branch.Table, of func(*branch.Table) *float64) *float64 {
	var sum float64
	for _, t := range tables {
		v := of(t)
		if v == nil {
			return nil
		}
		sum += *v / float64(len(tables))
	}
	return &sum
}

// units sets the units of work of each run.
func (c *comparison) units() {
	n := &c.d.Normalization
	of := func(t *branch.Table, side int) units {
		switch n.Mode {
		case PerWork:
			return units{n: c.opt.Ops[side]}
		case PerInstruction:
			return instructionUnits(t)
		case PerEntry:
			return units{n: t.Stacks.Rated / 1000}
		}
		return units{n: 1}
	}
	for _, t := range c.base.tables {
		c.baseUnits = append(c.baseUnits, of(t, 0))
	}
	for _, t := range c.head.tables {
		c.headUnits = append(c.headUnits, of(t, 1))
	}
	switch n.Mode {
	case PerWork:
		n.Unit = "operation"
	case PerInstruction:
		n.Unit = "1000 instructions"
	case PerEntry:
		n.Unit = "1000 entries of stacks"
	case PerReference:
		n.Unit = "run of base"
	default:
		n.Unit = "run"
	}
}

// instructionUnits are the instructions of a run, in thousands.
func instructionUnits(t *branch.Table) units {
	if len(t.Totals) < 2 {
		u := units{n: *t.Instructions / 1000}
		if len(t.Totals) == 0 || t.Totals[0].Instructions == nil || !t.Totals[0].Instructions.Counted {
			u.variance = relativeVariance(t, branch.CountsInstructions)
		}
		return u
	}
	u := units{n: math.NaN(), byPMU: make(map[string]units)}
	for i := range t.Totals {
		p := &t.Totals[i]
		one := units{n: p.Instructions.Value / 1000}
		if n := p.Instructions.Effective; n > 0 && !p.Instructions.Counted {
			one.variance = 1 / n
		}
		u.byPMU[p.PMU] = one
	}
	return u
}

// relativeVariance is the relative variance of a total: one over the samples it sums up.
func relativeVariance(t *branch.Table, counts branch.Counts) float64 {
	var samples int64
	for _, e := range t.Events {
		if e.Counts == counts {
			samples += e.Samples
		}
	}
	if t.Counted() || samples == 0 {
		return 0
	}
	return 1 / float64(samples)
}

// executions finds how often the branches of both sides were executed, per unit.
func (c *comparison) executions() {
	n := &c.d.Normalization
	n.Executions = math.NaN()
	if c.entries {
		return // the unit is executions
	}
	var ratios []float64
	for i := range c.base.rows {
		j := c.m.toHead[i]
		if j < 0 || min(c.base.rows[i].n, c.head.rows[j].n) < branch.MinExecutions {
			continue
		}
		a, okA := perUnit(c.base.rows[i].runs, c.baseUnits)
		b, okB := perUnit(c.head.rows[j].runs, c.headUnits)
		if okA && okB && a > 0 && b > 0 {
			ratios = append(ratios, b/a)
		}
	}
	if n.Branches = len(ratios); n.Branches > 0 {
		n.Executions = stats.Median(ratios)
	}
}

// perUnit is how often a branch was executed per unit of work: of what is known in all
// runs where it was seen.
func perUnit(runs []*branch.Branch, u []units) (sum float64, ok bool) {
	for i, b := range runs {
		if b == nil {
			continue
		}
		if b.Executed == nil {
			return 0, false
		}
		of := u[i].ofPMU(b.PMU)
		sum += *b.Executed / of.n / float64(len(runs))
	}
	return sum, true
}
