package diff

import (
	"cmp"
	"math"
	"path"
	"slices"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Function compares the misses in a function, of samples that tell the function
// and not the branch.
type Function struct {
	// Name is its name in head, BaseName its name in base; "" where it was not seen.
	Name, BaseName string
	DSO, PMU       string
	// Misses are per unit of work. Their verdict is the verdict on the function.
	Misses Change
	// BaseSamples and HeadSamples count the samples that the misses are estimated from.
	BaseSamples, HeadSamples int64
}

// functionSide are the functions of one side.
type functionSide struct {
	list []align.Function
	at   map[functionName]int
	// misses by PMU of each function, of each run.
	misses []map[string][]branch.Amount
}

// A functionPMU is a group of functions that are the same, on cores of one kind.
type functionPMU struct {
	group int
	pmu   string
}

func functionsOf(tables []*branch.Table) *functionSide {
	s := &functionSide{at: make(map[functionName]int)}
	for run, t := range tables {
		for i := range t.Functions() {
			f := &t.Functions()[i]
			name := functionName{dso: path.Base(f.DSO), name: f.Name}
			n, ok := s.at[name]
			if !ok {
				n = len(s.list)
				s.at[name] = n
				fn := align.Function{Name: f.Name, DSO: name.dso, File: f.File}
				if f.Name == "" {
					fn.Name, fn.Unknown = unnamed(name.dso), true
				}
				s.list = append(s.list, fn)
				s.misses = append(s.misses, make(map[string][]branch.Amount))
			}
			if s.misses[n][f.PMU] == nil {
				s.misses[n][f.PMU] = make([]branch.Amount, len(tables))
			}
			addAmount(&s.misses[n][f.PMU][run], &f.Misses)
		}
	}
	return s
}

func addAmount(a, b *branch.Amount) {
	v := squares(a) + squares(b)
	a.Value += b.Value
	a.Samples += b.Samples
	if v > 0 {
		a.Effective = a.Value * a.Value / v
	}
}

// squares is the variance of a Poisson count of weighted samples.
func squares(a *branch.Amount) float64 {
	switch {
	case a.Counted || a.Value == 0:
		return 0
	case a.Effective > 0:
		return a.Value * a.Value / a.Effective
	}
	return a.Value * a.Value / float64(max(a.Samples, 1))
}

// amountPer is an amount per unit of work.
func amountPer(a *branch.Amount, u units) stats.WeightedCount {
	if !(a.Value > 0) || !(u.n > 0) {
		return stats.WeightedCount{}
	}
	w := a.Value / u.n
	return stats.WeightedCount{Weight: w, WeightSq: squares(a)/(u.n*u.n) + w*w*u.variance}
}

// ofPMU are the units of a PMU.
func (u *units) ofPMU(pmu string) units {
	if one, ok := u.byPMU[pmu]; ok {
		return one
	}
	return *u
}

// functions compares the misses in functions, if the recordings tell these.
func (c *comparison) functions() error {
	base, head := functionsOf(c.base.tables), functionsOf(c.head.tables)
	if len(base.list) == 0 && len(head.list) == 0 {
		return nil
	}
	matches, err := align.Functions(base.list, head.list, align.Options{Renames: c.opt.Renames})
	if err != nil {
		return err
	}
	rows := make(map[functionPMU]*Function)
	sums := make(map[functionPMU]*[2][]branch.Amount)
	var keys []functionPMU
	add := func(group, function, side int, s *functionSide) {
		for pmu, runs := range s.misses[function] {
			at := functionPMU{group, pmu}
			if rows[at] == nil {
				rows[at] = &Function{PMU: pmu}
				sums[at] = &[2][]branch.Amount{make([]branch.Amount, len(c.base.tables)), make([]branch.Amount, len(c.head.tables))}
				keys = append(keys, at)
			}
			r := rows[at]
			r.DSO = s.list[function].DSO
			if name := s.list[function].Name; side == 0 {
				r.BaseName = cmp.Or(r.BaseName, name)
			} else {
				r.Name = cmp.Or(r.Name, name)
			}
			for run := range runs {
				addAmount(&sums[at][side][run], &runs[run])
			}
		}
	}
	type sideFunction struct{ side, function int }
	seen := make(map[sideFunction]bool)
	for _, m := range matches {
		for side, f := range []int{m.Base, m.Head} {
			if f < 0 || seen[sideFunction{side, f}] {
				continue
			}
			seen[sideFunction{side, f}] = true
			add(m.Group, f, side, []*functionSide{base, head}[side])
		}
	}
	slices.SortFunc(keys, func(a, b functionPMU) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.pmu, b.pmu))
	})
	for _, key := range keys {
		r, sum := rows[key], sums[key]
		var counts [2][]stats.WeightedCount
		for side, u := range [][]units{c.baseUnits, c.headUnits} {
			for run := range sum[side] {
				counts[side] = append(counts[side], amountPer(&sum[side][run], u[run].ofPMU(key.pmu)))
			}
		}
		for i := range sum[0] {
			r.BaseSamples += sum[0][i].Samples
		}
		for i := range sum[1] {
			r.HeadSamples += sum[1][i].Samples
		}
		if max(r.BaseSamples, r.HeadSamples) < branch.MinMisses {
			c.d.HiddenFunctions++
			continue
		}
		r.Misses = c.compare(counts[0], counts[1])
		c.d.Functions = append(c.d.Functions, *r)
	}
	c.functionVerdicts()
	slices.SortStableFunc(c.d.Functions, func(a, b Function) int {
		return -cmp.Compare(math.Abs(a.Misses.Delta()), math.Abs(b.Misses.Delta()))
	})
	return nil
}

func (c *comparison) functionVerdicts() {
	family := make([]*verdict.Finding, len(c.d.Functions))
	for i := range c.d.Functions {
		f := &c.d.Functions[i]
		family[i] = &f.Misses.Finding
		family[i].Presence = presenceOf(f.BaseName != "", f.Name != "")
	}
	c.judge(family)
}
