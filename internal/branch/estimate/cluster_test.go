package estimate

import (
	"math/rand/v2"
	"testing"
)

// TestCounterRatio: intervals of the ratio of two counters hold as often as they say.
func TestCounterRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rate, runs = 0.1, 2000
	held := 0
	for range runs {
		var p Pairs
		for range 60 {
			// Samples whose length and rate vary.
			branches := 5000 + 10000*rng.Float64()
			p.Add(branches*rate*(0.5+rng.Float64()), branches)
		}
		r := p.Ratio(1)
		if r.CI[0] <= rate && rate <= r.CI[1] {
			held++
		}
	}
	if part := float64(held) / runs; part < 0.935 || part > 0.985 {
		t.Errorf("%.1f %% of intervals hold, want 95 %%", 100*part)
	}
}
