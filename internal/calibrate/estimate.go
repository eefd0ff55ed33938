package calibrate

import (
	"fmt"
	"slices"

	"profdiff/internal/stats"
)

// What is refused.
const (
	// widest is the part of the cost to which its interval must know it.
	widest = 0.25
	// leastCost is in cycles: no pipeline is shorter.
	leastCost = 2
	// mostLinear is by what factor the cost may depend on how frequent misses are.
	mostLinear = 1.5
	// leastProbability of misses lets their cost be known well.
	leastProbability = 0.1
	// mostSelect is the part of the cost that the outcomes may cost without branches.
	mostSelect = 0.05
)

// An InconclusiveError says why measurements do not tell the cost.
type InconclusiveError struct{ Reason string }

func (e *InconclusiveError) Error() string { return "inconclusive: " + e.Reason }

func inconclusive(format string, args ...any) error {
	return &InconclusiveError{fmt.Sprintf(format, args...)}
}

// estimate tells the costs from the rounds, or what is wrong with them.
func estimate(list []round) (*Core, error) {
	if len(list) < MinRounds {
		return nil, inconclusive("there was time for %d of at least %d rounds: the machine is too slow or too busy", len(list), MinRounds)
	}
	// cycle is the time of one in a round, perBranch in cycles, and difference that to
	// none mispredicted.
	cycle := func(r *round) float64 { return r[index(trial{kernel: chain})] / adds }
	perBranch := func(t trial) func(*round) float64 {
		i := index(t)
		return func(r *round) float64 { return r[i] / branches / cycle(r) }
	}
	difference := func(k kernel, misses int) func(*round) float64 {
		a, b := perBranch(trial{kernel: k}), perBranch(trial{k, misses})
		return func(r *round) float64 { return b(r) - a(r) }
	}
	perMiss := func(k kernel, misses int) Estimate {
		d := difference(k, misses)
		return median(list, func(r *round) float64 { return d(r) * 64 / float64(misses) })
	}
	c := &Core{
		Rounds:   len(list),
		Register: perMiss(onRegister, half), Load: perMiss(onLoad, half), TwoLoads: perMiss(onTwoLoads, half),
		CycleNS: median(list, cycle),
		Select:  median(list, difference(noBranch, half)),
	}
	perCycle := func(k kernel) Estimate {
		return median(list, func(r *round) float64 { return 1 / perBranch(trial{kernel: k})(r) })
	}
	near, far := perCycle(nearJumps), perCycle(farJumps)
	c.TakenPerCycle = Estimate{min(near.Lo, far.Lo), (near.Centre + far.Centre) / 2, max(near.Hi, far.Hi)}
	for _, t := range trials {
		if t.kernel != onLoad {
			continue
		}
		l := Level{MissProbability: float64(t.misses) / 64, CyclesPerBranch: median(list, perBranch(t))}
		if t.misses > 0 {
			cost := perMiss(onLoad, t.misses)
			l.CyclesPerMiss = &cost
		}
		c.Levels = append(c.Levels, l)
	}
	c.Cost = Estimate{min(c.Register.Lo, c.Load.Lo), c.Load.Centre, max(c.Load.Hi, c.TwoLoads.Hi)}
	for _, l := range c.Levels {
		if m := l.CyclesPerMiss; m != nil && l.MissProbability >= leastProbability {
			c.Cost.Lo, c.Cost.Hi = min(c.Cost.Lo, m.Lo), max(c.Cost.Hi, m.Hi)
		}
	}
	c.CostNS = Estimate{c.Cost.Lo * c.CycleNS.Lo, c.Cost.Centre * c.CycleNS.Centre, c.Cost.Hi * c.CycleNS.Hi}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

// check says why the cost is not to be trusted.
func (c *Core) check() error {
	for _, e := range []struct {
		what string
		Estimate
	}{
		{"of a branch on a register", c.Register},
		{"of a branch behind a load", c.Load},
		{"of a branch behind two loads", c.TwoLoads},
	} {
		switch {
		case !(e.Hi-e.Centre <= widest*e.Centre && e.Centre-e.Lo <= widest*e.Centre):
			return inconclusive("a miss %s costs %.3g cycles, but the 95 %% interval [%.3g, %.3g] is wider than ±%d %%: the machine is too busy", e.what, e.Centre, e.Lo, e.Hi, int(100*widest))
		case e.Centre < leastCost:
			return inconclusive("a miss %s costs %.3g cycles, less than any pipeline takes to fill: the branch was predicted, or is none", e.what, e.Centre)
		}
	}
	if s := c.Select; s.Lo > mostSelect*c.Load.Centre/2 || s.Hi < -mostSelect*c.Load.Centre/2 {
		return inconclusive("code without branches takes %.3g cycles more by element for random data: the difference is not one of branches", s.Centre)
	}
	for _, l := range c.Levels {
		if m := l.CyclesPerMiss; m != nil && (m.Lo > mostLinear*c.Load.Centre || m.Hi*mostLinear < c.Load.Centre) {
			return inconclusive("a miss costs %.3g cycles if %.3g %% of branches are mispredicted, but %.3g if half are", m.Centre, 100*l.MissProbability, c.Load.Centre)
		}
	}
	return nil
}

func index(t trial) int { return slices.Index(trials[:], t) }

// median cuts the rounds into consecutive parts and takes the median of the medians of the
// parts, whose order statistics give the interval: noise lasts longer than a round.
func median(list []round, value func(*round) float64) Estimate {
	var medians []float64
	for i := range batches {
		from, to := i*len(list)/batches, (i+1)*len(list)/batches
		var values []float64
		for j := from; j < to; j++ {
			values = append(values, value(&list[j]))
		}
		slices.Sort(values)
		medians = append(medians, middle(values))
	}
	slices.Sort(medians)
	ci := stats.QuantileInterval(medians, 0.5, 0.95)
	return Estimate{ci.Lo, middle(medians), ci.Hi}
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
