package calibrate

import (
	"fmt"
	"math"
	"slices"

	"profdiff/internal/probe"
	"profdiff/internal/stats"
)

// What is refused.
const (
	// widest is the part of the cost of a miss to which its interval must know it.
	widest = 0.25
	// leastCost is in cycles: no pipeline is shorter.
	leastCost = 2
	// mostLinear is by what factor the cost may depend on how frequent misses are.
	mostLinear = 1.5
	// leastProbability of misses lets their cost be known well.
	leastProbability = 0.1
	// mostSelect is the part of the cost that the outcomes may cost without branches.
	mostSelect = 0.05
	// aChain is in cycles by instruction: less, and one instruction does not wait for
	// the one before, as where copies are eliminated. That is a width.
	aChain = 0.9
)

// common is what all repetitions of a run may be off by together, as part of a value: the
// time that timing takes, the ends of loops, where memory happens to be.
const common = 0.005

// An InconclusiveError says why measurements do not tell anything.
type InconclusiveError struct{ Reason string }

func (e *InconclusiveError) Error() string { return "inconclusive: " + e.Reason }

func inconclusive(format string, args ...any) error {
	return &InconclusiveError{fmt.Sprintf(format, args...)}
}

// modes is by how much of the median the outer tenths of the values may differ, if all have
// the same mean. Where a core does the same thing now in one way and now in another, the
// median is that of a mode, and the interval goes from tenth to tenth.
const modes = 0.05

// ofModes is interval of values that should be one.
func ofModes(values []float64) probe.Estimate {
	e := interval(values)
	n := len(values)
	if lo, hi := values[n/10], values[n-1-n/10]; hi-lo > modes*e.Centre {
		e.Lo, e.Hi = min(e.Lo, lo), max(e.Hi, hi)
	}
	return e
}

// fewAlone is why most is missing.
const fewAlone = "too few repetitions had the core alone"

// interval is the median of values with its interval, which includes what they may
// be off by together. It sorts them.
func interval(values []float64) probe.Estimate {
	centre := stats.Median(values)
	ci := stats.QuantileInterval(values, 0.5, 0.95)
	off := common * math.Abs(centre)
	return probe.Estimate{Lo: max(ci.Lo, values[0]) - off, Centre: centre, Hi: min(ci.Hi, values[len(values)-1]) + off}
}

// accepted are the cycles of samples that count by the final full width.
func (s *sampler) accepted(k *series) (cycles []float64) {
	for _, x := range k.clean {
		if x.width >= leastWidth*s.full.Additions {
			cycles = append(cycles, x.cycles)
		}
	}
	return cycles
}

// measured is what is known of a series, or why not.
func (s *sampler) measured(k *series) (m Measured, why string) {
	clean := s.accepted(k)
	if len(clean) >= MinRounds && s.full.Refused == "" {
		return Measured{Estimate: ofModes(clean), Accepted: len(clean), Tried: k.tried}, ""
	}
	why = fewAlone
	if s.full.Refused != "" {
		why = s.full.Refused
	}
	if k.Probe == nil || !k.Chained() {
		return m, why
	}
	for _, x := range k.steady {
		clean = append(clean, x.cycles)
	}
	if len(clean) < MinRounds {
		return m, "the clock of the core changed during too many repetitions, or something interrupted them"
	}
	e := ofModes(clean)
	if e.Centre*float64(k.Count) < aChain*float64(len(k.Unit)) {
		return m, why
	}
	return Measured{Estimate: e, Accepted: len(clean), Tried: k.tried, Shared: true}, ""
}

// estimate tells what is known of the core from all samples.
func (s *sampler) estimate(refused map[string]string) (*Core, error) {
	s.findFull()
	c := &Core{FullWidth: &s.full, Probes: make(map[string]Measured), Refused: refused}
	var cycles []float64
	for _, k := range s.list {
		for _, x := range slices.Concat(k.clean, k.steady) {
			cycles = append(cycles, x.cycle)
		}
	}
	if len(cycles) < MinRounds {
		return nil, inconclusive("the clock of the core changes all the time, or something interrupts it: %d repetitions have the same cycle before and after", len(cycles))
	}
	cycle := interval(cycles)
	c.CycleNS = &cycle
	for _, k := range s.list {
		if k.Probe == nil {
			continue
		}
		m, why := s.measured(k)
		if why != "" {
			c.Refused[k.name] = why
			continue
		}
		c.Probes[k.name] = m
	}
	s.misses(c)
	if len(c.Probes) == 0 && c.Cost == nil {
		return nil, inconclusive("nothing could be measured: %s", s.full.Refused)
	}
	return c, nil
}

// misses tells the costs of mispredicted branches, and what goes with them.
func (s *sampler) misses(c *Core) {
	cycles := make(map[trial][]float64)
	for _, k := range s.list {
		if k.Probe == nil && s.full.Refused == "" {
			if values := s.accepted(k); len(values) >= MinRounds {
				cycles[k.trial] = values
			}
		}
	}
	// difference is that to known outcomes, over a part.
	difference := func(k code, misses int, part float64) *probe.Estimate {
		base, all := cycles[trial{k, 0}], cycles[trial{k, misses}]
		if base == nil || all == nil {
			return nil
		}
		known := interval(base)
		var values []float64
		for _, v := range all {
			values = append(values, (v-known.Centre)/part)
		}
		e := interval(values)
		e.Lo -= (known.Hi - known.Centre) / part
		e.Hi += (known.Centre - known.Lo) / part
		return &e
	}
	perMiss := func(k code, misses int) *probe.Estimate { return difference(k, misses, float64(misses)/64) }
	c.Register, c.Load, c.TwoLoads = perMiss(onRegister, half), perMiss(onLoad, half), perMiss(onTwoLoads, half)
	c.Select = difference(noBranch, half, 1)
	perCycle := func(k code) *probe.Estimate {
		v := cycles[trial{k, 0}]
		if v == nil {
			return nil
		}
		e := ofModes(v)
		return &probe.Estimate{Lo: 1 / e.Hi, Centre: 1 / e.Centre, Hi: 1 / e.Lo}
	}
	if near, far := perCycle(nearJumps), perCycle(farJumps); near != nil && far != nil {
		c.TakenPerCycle = &probe.Estimate{Lo: min(near.Lo, far.Lo), Centre: (near.Centre + far.Centre) / 2, Hi: max(near.Hi, far.Hi)}
	}
	for _, t := range trials {
		if t.code != onLoad || cycles[t] == nil {
			continue
		}
		l := Level{MissProbability: float64(t.misses) / 64, CyclesPerBranch: interval(cycles[t])}
		if t.misses > 0 {
			l.CyclesPerMiss = perMiss(onLoad, t.misses)
		}
		c.Levels = append(c.Levels, l)
	}
	c.refuse()
	if c.Register == nil || c.Load == nil || c.TwoLoads == nil {
		return
	}
	c.Cost = &probe.Estimate{Lo: min(c.Register.Lo, c.Load.Lo), Centre: c.Load.Centre, Hi: max(c.Load.Hi, c.TwoLoads.Hi)}
	for _, l := range c.Levels {
		if m := l.CyclesPerMiss; m != nil && l.MissProbability >= leastProbability {
			c.Cost.Lo, c.Cost.Hi = min(c.Cost.Lo, m.Lo), max(c.Cost.Hi, m.Hi)
		}
	}
	c.CostNS = &probe.Estimate{Lo: c.Cost.Lo * c.CycleNS.Lo, Centre: c.Cost.Centre * c.CycleNS.Centre, Hi: c.Cost.Hi * c.CycleNS.Hi}
}

// refuse takes costs back that are not to be trusted, and says why each one is missing.
func (c *Core) refuse() {
	alone := fewAlone
	if c.FullWidth.Refused != "" {
		alone = c.FullWidth.Refused
	}
	for _, e := range []struct {
		name, what string
		value      **probe.Estimate
	}{
		{probe.MissRegister, "on a register", &c.Register},
		{probe.MissLoad, "behind a load", &c.Load},
		{probe.MissTwoLoads, "behind two loads", &c.TwoLoads},
	} {
		v := *e.value
		switch {
		case v == nil:
			c.Refused[e.name] = alone
			continue
		case !(v.Hi-v.Centre <= widest*v.Centre && v.Centre-v.Lo <= widest*v.Centre):
			c.Refused[e.name] = fmt.Sprintf("a miss of a branch %s costs %.3g cycles, but the 95 %% interval [%.3g, %.3g] is wider than ±%d %%: the machine is too busy", e.what, v.Centre, v.Lo, v.Hi, int(100*widest))
		case v.Centre < leastCost:
			c.Refused[e.name] = fmt.Sprintf("a miss of a branch %s costs %.3g cycles, less than any pipeline takes to fill: the branch was predicted, or is none", e.what, v.Centre)
		default:
			continue
		}
		*e.value = nil
	}
	if c.Load == nil {
		return
	}
	why := ""
	if s := c.Select; s != nil && (s.Lo > mostSelect*c.Load.Centre/2 || s.Hi < -mostSelect*c.Load.Centre/2) {
		why = fmt.Sprintf("code without branches takes %.3g cycles more by element for random data: the difference is not one of branches", s.Centre)
	}
	for _, l := range c.Levels {
		if m := l.CyclesPerMiss; m != nil && (m.Lo > mostLinear*c.Load.Centre || m.Hi*mostLinear < c.Load.Centre) {
			why = fmt.Sprintf("a miss costs %.3g cycles if %.3g %% of branches are mispredicted, but %.3g if half are", m.Centre, 100*l.MissProbability, c.Load.Centre)
		}
	}
	if why != "" {
		for _, name := range []string{probe.MissRegister, probe.MissLoad, probe.MissTwoLoads} {
			c.Refused[name] = why
		}
		c.Register, c.Load, c.TwoLoads = nil, nil, nil
	}
}
