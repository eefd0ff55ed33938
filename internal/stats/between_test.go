package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBetween draws true values with a known standard deviation, and an estimate of each:
// the bound is above it as often as its level says, and not far above it.
func TestBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, tau := range []float64{0, 0.01, 0.05} {
		const builds, k = 2000, 50
		below, sum := 0, 0.0
		for range builds {
			x, v := make([]float64, k), make([]float64, k)
			for i := range x {
				se := 0.01 * (1 + 2*rng.Float64())
				x[i], v[i] = 0.3+tau*rng.NormFloat64()+se*rng.NormFloat64(), se*se
			}
			upper := Between(x, v, 0.95)
			sum += upper / builds
			if upper < tau {
				below++
			}
		}
		if rate := float64(below) / builds; tau > 0 && math.Abs(rate-0.05) > 0.015 {
			t.Errorf("sd %v: bound is below it in %.3f", tau, rate)
		}
		if sum > 1.35*tau+0.015 {
			t.Errorf("sd %v: mean bound %.4f", tau, sum)
		}
	}
	if v := Between([]float64{1}, []float64{1}, 0.95); !math.IsInf(v, 1) {
		t.Errorf("one value: %v", v)
	}
	if v := Between([]float64{1, 1, 1}, []float64{1, 1, 1}, 0.95); v != 0 {
		t.Errorf("equal values: %v", v)
	}
}

func TestLogRatio(t *testing.T) {
	base, head := []WeightedCount{{Weight: 1}, {Weight: math.E * math.E}}, []WeightedCount{{Weight: math.E}, {Weight: math.Pow(math.E, 5)}}
	log, variance, degrees := LogRatio(base, head)
	// Means 1 and 3, variances 2 and 8 of two runs each: 1 and 4, and 25/(1+16).
	for _, c := range []struct{ got, want float64 }{{log, 2}, {variance, 5}, {degrees, 25.0 / 17}} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	if _, _, degrees = LogRatio(base[:1], head); degrees != 0 {
		t.Errorf("one run has %v degrees of freedom", degrees)
	}
}
