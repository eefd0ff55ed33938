package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values of scipy 1.x: beta.ppf.
func TestProportion(t *testing.T) {
	for _, test := range []struct{ k, n, lo, hi float64 }{
		{1, 10, 0.0025285785444617865, 0.4450161170281954},
		{5, 10, 0.18708602844739855, 0.8129139715526015},
		{9, 10, 0.5549838829718046, 0.9974714214555382},
		{20, 50, 0.2640783950945368, 0.5482059715208196},
		{29, 300, 0.06569857461558704, 0.135874909828131},
		{0, 10, 0, 1 - math.Pow(0.025, 0.1)},
		{10, 10, math.Pow(0.025, 0.1), 1},
	} {
		got := Proportion(test.k, test.n, 0.95)
		if !near(got.Lo, test.lo) || !near(got.Hi, test.hi) {
			t.Errorf("proportion(%v of %v) = %v, want [%v, %v]", test.k, test.n, got, test.lo, test.hi)
		}
	}
}

// Values of scipy 1.x: ttest_ind(log(head), log(base), equal_var=False).
func TestWelchRatio(t *testing.T) {
	for _, test := range []struct {
		base, head []float64
		lo, hi     float64
	}{
		{[]float64{10, 11, 12}, []float64{20, 22, 25}, 1.602380246098175, 2.5651548483739943},
		{[]float64{100, 101, 99, 100.5}, []float64{100, 103, 97, 99, 101}, 0.9715768967828936, 1.0263316378701515},
		{[]float64{5, 50, 500}, []float64{6, 7, 8}, 0.0004705072805077121, 41.08845660512579},
		{[]float64{2, 2}, []float64{3, 3, 3}, 1.5, 1.5},
	} {
		got, ok := WelchRatio(test.base, test.head, 0.95)
		if !ok || !near(got.Lo, test.lo) || !near(got.Hi, test.hi) {
			t.Errorf("WelchRatio(%v, %v) = %v, want [%v, %v]", test.base, test.head, got, test.lo, test.hi)
		}
	}
	for _, test := range [][2][]float64{{{1}, {1, 2}}, {{1, 0}, {1, 2}}, {{1, 2}, {1, math.NaN()}}, {{1, 2}, {1, math.Inf(1)}}} {
		if got, ok := WelchRatio(test[0], test[1], 0.95); ok || got.Lo != 0 || !math.IsInf(got.Hi, 1) {
			t.Errorf("WelchRatio(%v, %v) = %v, %v, want everything", test[0], test[1], got, ok)
		}
	}
}

func TestSamplingRatioEdges(t *testing.T) {
	inf := math.Inf(1)
	w := func(n int) WeightedCount { return WeightedCount{float64(n) * 10, float64(n) * 100} }
	for _, test := range []struct {
		name       string
		base, head WeightedCount
		lo, hi     func(float64) bool
	}{
		{"nothing", w(0), w(0), func(lo float64) bool { return lo == 0 }, func(hi float64) bool { return hi == inf }},
		{"new", w(0), w(5), func(lo float64) bool { return lo > 0 }, func(hi float64) bool { return hi == inf }},
		{"gone", w(5), w(0), func(lo float64) bool { return lo == 0 }, func(hi float64) bool { return hi < inf }},
		{"few", w(3), w(4), func(lo float64) bool { return lo > 0 && lo < 4.0/3 }, func(hi float64) bool { return hi > 4.0/3 && hi < inf }},
		{"many", w(1000), w(2000), func(lo float64) bool { return lo > 1.8 && lo < 2 }, func(hi float64) bool { return hi > 2 && hi < 2.2 }},
		{"weights of no sign", WeightedCount{-10, 100}, w(5), func(lo float64) bool { return lo >= 0 }, func(hi float64) bool { return hi == inf }},
	} {
		got := SamplingRatio(test.base, test.head, 0.95)
		if !test.lo(got.Lo) || !test.hi(got.Hi) {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestSamplingRatioErrorRate draws both sides from one distribution: the interval
// must leave out 1 in no more than 5 % of draws, up to the error of the simulation,
// for equal and for unequal weights. Binomial formulas on sums of weights, the
// negative control, must fail.
func TestSamplingRatioErrorRate(t *testing.T) {
	const draws, samples, share = 4000, 2000, 0.05
	weights := map[string]func(*rand.Rand) float64{
		"equal":     func(*rand.Rand) float64 { return 1e6 },
		"lognormal": func(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) },
		"heavy":     func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/2.5) },
	}
	for name, weight := range weights {
		rng := rand.New(rand.NewPCG(9, 10))
		draw := func() WeightedCount {
			var c WeightedCount
			for range samples {
				if w := weight(rng); rng.Float64() < share {
					c.Weight += w
					c.WeightSq += w * w
				}
			}
			return c
		}
		wrong, naive := 0, 0
		for range draws {
			a, b := draw(), draw()
			if !SamplingRatio(a, b, 0.95).Contains(1) {
				wrong++
			}
			// Poisson noise of the weights, in units of their mean.
			mean := (a.Weight + b.Weight) / (2 * samples * share)
			if se := math.Sqrt(mean/a.Weight + mean/b.Weight); math.Abs(math.Log(b.Weight/a.Weight)) > 1.96*se {
				naive++
			}
		}
		if rate := float64(wrong) / draws; rate > 0.058 || rate < 0.03 {
			t.Errorf("%s weights: %.3f of intervals leave out 1, want 0.05", name, rate)
		}
		if rate := float64(naive) / draws; name == "heavy" && rate < 0.1 {
			t.Errorf("%s weights: the naive formula errs in only %.3f: this test has no teeth", name, rate)
		}
	}
}

// TestSamplingRatioFew does the same for functions with few samples, where the exact
// interval errs less often than 5 %.
func TestSamplingRatioFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, expected := range []float64{1, 3, 10, 25} {
		const draws = 4000
		wrong := 0
		for range draws {
			count := func() WeightedCount {
				// Poisson by counting exponential gaps.
				k, at := 0.0, rng.ExpFloat64()
				for at < expected {
					k++
					at += rng.ExpFloat64()
				}
				return WeightedCount{k, k}
			}
			a, b := count(), count()
			if !SamplingRatio(a, b, 0.95).Contains(1) {
				wrong++
			}
		}
		if rate := float64(wrong) / draws; rate > 0.058 {
			t.Errorf("%v samples expected: %.3f of intervals leave out 1, at most 0.05 allowed", expected, rate)
		}
	}
}
