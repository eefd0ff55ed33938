package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Repetition is one timing of one side, in ticks of the clock.
type Repetition struct {
	Ticks float64
	// Before and After are the times of the chains of additions around it.
	Before, After float64
}

const (
	// drift is how far the chains around a repetition may differ: more, and something
	// interrupted one of them, or the clock of the CPU changed in between.
	drift = 0.02
	// lowQuantile of the repetitions of a program is its estimate. Whatever disturbs adds
	// time, so low ones are clean; the least of all would depend on how many there are.
	lowQuantile = 0.1
	// resamples of the bootstrap.
	resamples = 1000
)

// cycles returns the cycles that a repetition took, or false if it was disturbed. Each
// of the additions takes a cycle; overhead is the time of timing nothing, in ticks.
func (r Repetition) cycles(additions, overhead float64) (float64, bool) {
	least := min(r.Before, r.After)
	if least <= 0 || max(r.Before, r.After) > least*(1+drift) {
		return 0, false
	}
	tick := (r.Before + r.After) / 2 / additions
	return (r.Ticks - overhead) / tick, true
}

// An Estimate is what is known of the time of one side.
type Estimate struct {
	Cycles float64 // the median over programs of their low quantiles
	Lo, Hi float64 // its 95 % interval
	Median float64 // of all repetitions
	// Repetitions is how many repetitions count, in all rounds.
	Repetitions int
}

// estimate returns the time of one side from the cycles of its repetitions by programs,
// which differ in their addresses, and by rounds, which are runs of a program some time
// apart. Addresses make a program faster or slower for good: hence the median over
// programs. Other work on the machine makes everything slower for a while: hence the low
// quantile over the rounds of a program. The interval comes from a bootstrap over both.
func estimate(programs [][][]float64) Estimate {
	var pooled []float64
	for _, rounds := range programs {
		pooled = append(pooled, slices.Concat(rounds...)...)
	}
	if len(pooled) == 0 {
		return Estimate{Cycles: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Median: math.NaN()}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	medians := make([]float64, 0, resamples)
	for range resamples {
		drawn := make([][][]float64, len(programs))
		for i := range drawn {
			rounds := programs[rng.IntN(len(programs))]
			for range rounds {
				drawn[i] = append(drawn[i], rounds[rng.IntN(len(rounds))])
			}
		}
		if x := typical(drawn); !math.IsNaN(x) {
			medians = append(medians, x)
		}
	}
	slices.Sort(medians)
	return Estimate{
		Cycles: typical(programs), Lo: quantile(medians, 0.025), Hi: quantile(medians, 0.975),
		Median: median(pooled), Repetitions: len(pooled),
	}
}

// typical returns the median over programs of the low quantiles of their repetitions.
func typical(programs [][][]float64) float64 {
	var lows []float64
	for _, rounds := range programs {
		if all := slices.Concat(rounds...); len(all) > 0 {
			slices.Sort(all)
			lows = append(lows, quantile(all, lowQuantile))
		}
	}
	if len(lows) == 0 {
		return math.NaN()
	}
	return median(lows)
}

// quantile returns a quantile of sorted values, interpolated between neighbours.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// median sorts values and returns the middle one.
func median(values []float64) float64 {
	slices.Sort(values)
	return quantile(values, 0.5)
}
