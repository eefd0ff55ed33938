package estimate

import (
	"math/rand/v2"
	"testing"
)

// TestRatioCoverage: intervals of rates from samples hold as often as they say.
func TestRatioCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, test := range []struct {
		misses, branches float64 // expected samples
	}{{3, 40}, {10, 30}, {20, 1000}, {100, 200}, {1000, 1000}} {
		const runs, periodM, periodB = 3000, 1000, 20000
		rate := test.misses * periodM / (test.branches * periodB)
		held, known := 0, 0
		for range runs {
			m, b := Tally{Unitless: periodM}, Tally{Unitless: periodB}
			for range poisson(rng, test.misses) {
				m.Add(periodM)
			}
			for range poisson(rng, test.branches) {
				b.Add(periodB)
			}
			r := RatioOf(m, b, 1)
			if r == nil {
				continue
			}
			known++
			if r.CI[0] <= rate && rate <= r.CI[1] {
				held++
			}
		}
		if part := float64(held) / float64(known); part < 0.94 || part > 0.99 {
			t.Errorf("%v misses, %v branches: %.1f %% of intervals hold, want 95 %%", test.misses, test.branches, 100*part)
		}
	}
}

// poisson draws by the time between events.
func poisson(rng *rand.Rand, mean float64) (n int) {
	for at := rng.ExpFloat64(); at < mean; at += rng.ExpFloat64() {
		n++
	}
	return n
}
