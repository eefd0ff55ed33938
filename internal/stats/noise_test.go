package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWithNoise draws one run a side of 100,000 samples that differ by 5 %, and ten others: by
// sampling alone most builds differ, with the noise of the others about one in twenty.
func TestWithNoise(t *testing.T) {
	const builds, samples, noise, others = 4000, 100_000, 0.05, 10
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func() WeightedCount {
		n := samples * math.Exp(noise*rng.NormFloat64())
		n += math.Sqrt(n) * rng.NormFloat64()
		return WeightedCount{Weight: n, WeightSq: n}
	}
	tests := New(0.95)
	var alone, with, covered float64
	for range builds {
		e := tests.Ratio([]WeightedCount{draw()}, []WeightedCount{draw()})
		var logs [others]float64
		mean, variance := 0.0, 0.0
		for i := range logs {
			logs[i] = math.Log(draw().Weight)
			mean += logs[i] / others
		}
		for _, l := range logs {
			variance += (l - mean) * (l - mean) / (others - 1)
		}
		n := tests.WithNoise(e, math.Sqrt(max(0, variance-1.0/samples)), others)
		if n.Method != SamplingNoise || !n.Capped {
			t.Fatalf("method %s, capped %v", n.Method, n.Capped)
		}
		if e.Above(1) <= 0.05 {
			alone += 1.0 / builds
		}
		if n.Above(1) <= 0.05 {
			with += 1.0 / builds
		}
		if n.CI.Contains(1) {
			covered += 1.0 / builds
		}
	}
	if alone < 0.2 || with > 0.058 || covered < 0.935 {
		t.Errorf("differ by sampling %.3f, with noise %.3f; the interval covers in %.3f", alone, with, covered)
	}
	e := tests.Ratio([]WeightedCount{{Weight: 5, WeightSq: 5}}, []WeightedCount{{Weight: 9, WeightSq: 9}})
	if n := tests.WithNoise(e, 0.05, others); n.Method != SamplingExact {
		t.Errorf("few samples: %s", n.Method)
	}
	for _, sd := range []float64{-1, math.NaN(), math.Inf(1)} {
		if n := tests.WithNoise(tests.Ratio([]WeightedCount{draw()}, []WeightedCount{draw()}), sd, others); n.Method != Sampling {
			t.Errorf("noise %v: %s", sd, n.Method)
		}
	}
}
