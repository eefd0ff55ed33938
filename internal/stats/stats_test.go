package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func repeat(c WeightedCount, n int) []WeightedCount { return slices.Repeat([]WeightedCount{c}, n) }

func TestMethod(t *testing.T) {
	varied := func(n int) []WeightedCount {
		runs := make([]WeightedCount, n)
		for i := range runs {
			runs[i] = WeightedCount{Weight: float64(100 + 7*i%5), WeightSq: float64(100 + 7*i%5)}
		}
		return runs
	}
	for _, test := range []struct {
		base, head int
		method     Method
		capped     bool
	}{
		{1, 1, Sampling, true},
		{1, 2, Prediction, true},
		{20, 1, Prediction, true},
		{2, 2, Welch, true},
		{3, 20, Welch, true},
		{4, 4, Welch, false},
		{7, 40, Welch, false},
		{8, 8, MannWhitney, false},
		{30, 9, MannWhitney, false},
	} {
		e := Ratio(varied(test.base), varied(test.head), 0.95)
		if e.Method != test.method || e.Capped != test.capped || e.BaseRuns != test.base || e.HeadRuns != test.head || e.Refused != "" {
			t.Errorf("%d and %d runs: %+v, want %s, capped %v", test.base, test.head, e, test.method, test.capped)
		}
	}
}

// TestRefused gives what has no ratio: nothing may be claimed of it, with any number of
// runs.
func TestRefused(t *testing.T) {
	good := WeightedCount{Weight: 100, WeightSq: 100}
	for _, bad := range []WeightedCount{
		{Weight: nan, WeightSq: 1},
		{Weight: 1, WeightSq: nan},
		{Weight: inf, WeightSq: 1},
		{Weight: 1, WeightSq: inf},
		{Weight: -1, WeightSq: 1},
		{Weight: 1, WeightSq: -1},
		{Weight: 0, WeightSq: 1}, // weights of both signs
	} {
		for _, n := range []int{1, 2, 5, 8, 30, 60} {
			for _, sides := range [][2][]WeightedCount{
				{append(repeat(good, n-1), bad), repeat(good, n)},
				{repeat(good, n), append(repeat(good, n-1), bad)},
			} {
				checkRefused(t, Ratio(sides[0], sides[1], 0.95))
			}
		}
	}
	for _, n := range []int{1, 3, 5, 10} {
		checkRefused(t, Ratio(repeat(WeightedCount{}, n), repeat(WeightedCount{}, n), 0.95))
		checkRefused(t, Ratio(nil, repeat(good, n), 0.95))
		checkRefused(t, Ratio(repeat(good, n), nil, 0.95))
	}
	checkRefused(t, Ratio(counted(10), counted(20), 0.95))
}

func checkRefused(t *testing.T, e Estimate) {
	t.Helper()
	if e.Refused == "" || e.P != 1 || e.CI != (Interval{0, inf}) || e.Above(1) != 1 || e.Below(1) != 1 || e.Above(0) != 1 || e.Below(inf) != 1 {
		t.Errorf("%+v is not refused", e)
	}
	if d, n := e.SmallestDetectable(0.05, 0.9), e.RunsNeeded(0.05, 0.05, 0.9); !math.IsInf(d, 1) || n != 0 {
		t.Errorf("refused, but detects %v with %d runs", d, n)
	}
}

// TestLimits asks for limits that are no ratios.
func TestLimits(t *testing.T) {
	for _, n := range []int{1, 2, 5, 10} {
		e := Ratio(repeat(WeightedCount{Weight: 100, WeightSq: 100}, n), repeat(WeightedCount{Weight: 110, WeightSq: 110}, n), 0.95)
		for _, limit := range []float64{nan, -1, inf} {
			if p := e.Above(limit); p != 1 {
				t.Errorf("%s: above %v: %v, want 1", e.Method, limit, p)
			}
		}
		for _, limit := range []float64{nan, -1, 0} {
			if p := e.Below(limit); p != 1 {
				t.Errorf("%s: below %v: %v, want 1", e.Method, limit, p)
			}
		}
		if p := e.Above(0); p > 0.01 {
			t.Errorf("%s: above 0: %v", e.Method, p)
		}
		if p := e.Below(inf); p > 0.01 {
			t.Errorf("%s: below infinity: %v", e.Method, p)
		}
	}
}

// TestExact gives counts that do not vary, up to rounding.
func TestExact(t *testing.T) {
	third := 1.0 / 3
	for _, n := range []int{2, 5, 10, 60} {
		base := counted(slices.Repeat([]float64{third}, n)...)
		base[1].Weight = 1 - 2*third // another number by rounding
		for _, test := range []struct {
			head, p, above, below float64
		}{{third, 1, 1, 1}, {0.5, 0, 0, 1}, {0.25, 0, 1, 0}} {
			e := Ratio(base, counted(slices.Repeat([]float64{test.head}, n)...), 0.95)
			want := test.head / third
			if e.Method != Exact || !near(e.Ratio, want) || !near(e.CI.Lo, want) || !near(e.CI.Hi, want) || e.Capped != (n < 4) {
				t.Errorf("%d runs: %+v, want exactly %v", n, e, want)
			}
			if above, below := e.Above(1), e.Below(1); e.P != test.p || above != test.above || below != test.below {
				t.Errorf("%d runs with %v: p %v, above %v, below %v, want %v", n, test.head, e.P, above, below, test)
			}
		}
	}
	// One run against several that are all equal.
	if e := Ratio(counted(5), counted(6, 6, 6), 0.95); e.Method != Exact || e.Ratio != 1.2 || !e.Capped {
		t.Errorf("one run: %+v", e)
	}
	// What varies on one side only is not exact, and neither are samples.
	if e := Ratio(counted(5, 5, 5, 5), counted(6, 6, 6, 7), 0.95); e.Method != Welch {
		t.Errorf("one side varies: %s", e.Method)
	}
	if e := Ratio(sampled(3, 3, 3, 3), sampled(4, 4, 4, 4), 0.95); e.Method != Welch || e.P < 0.05 {
		t.Errorf("few samples that agree by chance: %+v", e)
	}
	if e := Ratio(sampled(10000, 10000, 10000, 10000), sampled(10000, 10000, 10000, 10000), 0.95); e.P != 1 || e.CI.Lo == 1 || e.CI.Lo < 0.999 {
		t.Errorf("many samples that agree: %+v", e)
	}
	// Rounding is no difference of ranks either.
	base, head := counted(1, 2, 3, 4, 5, 6, 7, 8), counted(1, 2, 3, 4, 5, 6, 7, 8)
	for i := range head {
		head[i].Weight *= 1 + 4e-16
	}
	if e := Ratio(base, head, 0.95); e.P != 1 {
		t.Errorf("rounding: %+v", e)
	}
}

// TestZeros gives functions that come, go, or are in some runs only.
func TestZeros(t *testing.T) {
	for _, n := range []int{1, 2, 4, 7, 8, 10, 30, 60} {
		many := make([]float64, n)
		for i := range many {
			many[i] = float64(50 + i%5)
		}
		none := make([]float64, n)
		for _, test := range []struct {
			name       string
			base, head []WeightedCount
		}{
			{"sampled", sampled(none...), sampled(many...)},
			{"counted", counted(none...), counted(many...)},
		} {
			if n == 1 && test.name == "counted" {
				continue
			}
			came, went := Ratio(test.base, test.head, 0.95), Ratio(test.head, test.base, 0.95)
			if !math.IsInf(came.Ratio, 1) || !(came.CI.Lo > 2) || !math.IsInf(came.CI.Hi, 1) {
				// With one or two runs nothing excludes chance, save that the samples are many.
				if n > 2 || !math.IsInf(came.Ratio, 1) || !math.IsInf(came.CI.Hi, 1) {
					t.Errorf("%s, %d runs: came: %+v", test.name, n, came)
				}
			}
			if went.Ratio != 0 || went.CI.Lo != 0 || !near(went.CI.Hi, 1/came.CI.Lo) || !near(went.P, came.P) {
				t.Errorf("%s, %d runs: went: %+v, came: %+v", test.name, n, went, came)
			}
			if n >= 4 && came.Above(1.05) > 0.02 {
				t.Errorf("%s, %d runs: came: p above 1.05 is %v", test.name, n, came.Above(1.05))
			}
		}
		// Half a sample bounds how much more it is; a true zero does not.
		if e := Ratio(sampled(none...), sampled(many...), 0.95); n >= 8 && (e.CI.Lo < 100 || e.CI.Lo > 200) {
			t.Errorf("sampled, %d runs: %v", n, e.CI)
		}
		if e := Ratio(counted(none...), counted(many...), 0.95); n >= 8 && !math.IsInf(e.CI.Lo, 1) {
			t.Errorf("counted, %d runs: %v", n, e.CI)
		}
	}
	// Zeros on both sides say little: no verdict in either direction.
	for _, n := range []int{4, 8, 20, 60} {
		base, head := make([]float64, n), make([]float64, n)
		base[0], head[1] = 1, 1
		for _, e := range []Estimate{Ratio(sampled(base...), sampled(head...), 0.95), Ratio(counted(base...), counted(head...), 0.95)} {
			if e.P < 0.9 || e.Above(1.05) < 0.3 || e.Below(1.05) < 0.3 || !e.CI.Contains(1) || !e.CI.Contains(2) {
				t.Errorf("one sample a side in %d runs: %+v, below 1.05 %v", n, e, e.Below(1.05))
			}
		}
	}
}

// randomRuns are of a function with so many samples on average.
func randomRuns(rng *rand.Rand, n int, samples, sd float64) []WeightedCount {
	runs := make([]WeightedCount, n)
	for i := range runs {
		k := poisson(rng, samples*math.Exp(sd*rng.NormFloat64()))
		runs[i] = WeightedCount{Weight: k * 1e6, WeightSq: k * 1e12}
	}
	return runs
}

// TestMetamorphic changes comparisons in ways of which the effect is known.
func TestMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tests := New(0.95)
	for _, runs := range [][2]int{{1, 1}, {1, 5}, {2, 3}, {4, 4}, {5, 9}, {8, 8}, {10, 13}, {30, 27}, {60, 55}} {
		for _, samples := range []float64{0.7, 4, 25, 300, 1e5} {
			base, head := randomRuns(rng, runs[0], samples, 0.1), randomRuns(rng, runs[1], 1.3*samples, 0.1)
			e := tests.Ratio(base, head)
			if e.Refused != "" {
				continue // no samples
			}
			limits := []float64{0.5, 0.95, 1, 1.05, 2}

			// The interval contains the estimate, and is the ratios that are not rejected.
			if !e.CI.Contains(e.Ratio) {
				t.Errorf("%v runs, %v samples: ratio %v is not in %v", runs, samples, e.Ratio, e.CI)
			}
			if lo := e.CI.Lo; lo > 0 && samples > 1 && !math.IsInf(lo, 1) {
				if e.Above(lo*(1-1e-6)) > 0.025+1e-6 || e.Above(lo*(1+1e-6)) < 0.025-1e-6 {
					t.Errorf("%v runs, %v samples: p around lo: %v, %v", runs, samples, e.Above(lo*(1-1e-6)), e.Above(lo*(1+1e-6)))
				}
			}
			if hi := e.CI.Hi; hi > 0 && samples > 1 && !math.IsInf(hi, 1) {
				if e.Below(hi*(1+1e-6)) > 0.025+1e-6 || e.Below(hi*(1-1e-6)) < 0.025-1e-6 {
					t.Errorf("%v runs, %v samples: p around hi: %v, %v", runs, samples, e.Below(hi*(1+1e-6)), e.Below(hi*(1-1e-6)))
				}
			}
			// p falls as the limit does.
			for i := 1; i < len(limits); i++ {
				if e.Above(limits[i-1]) > e.Above(limits[i])+0.02 || e.Below(limits[i-1])+0.02 < e.Below(limits[i]) {
					t.Errorf("%v runs, %v samples: p is not monotonic at %v", runs, samples, limits[i])
				}
			}

			same := func(name string, got Estimate, mirrored bool) {
				t.Helper()
				want := e
				if mirrored {
					want.Ratio, want.CI = 1/e.Ratio, Interval{1 / e.CI.Hi, 1 / e.CI.Lo}
				}
				if !near(got.Ratio, want.Ratio) || !near(got.CI.Lo, want.CI.Lo) || !near(got.CI.Hi, want.CI.Hi) || !near(got.P, want.P) || got.Method != want.Method {
					t.Errorf("%v runs, %v samples: %s: %+v, want %+v", runs, samples, name, got, want)
				}
				for _, l := range limits {
					above, below := e.Above(l), e.Below(l)
					if mirrored {
						l, above, below = 1/l, below, above
					}
					if !near(got.Above(l), above) || !near(got.Below(l), below) {
						t.Errorf("%v runs, %v samples: %s: above and below %v: %v, %v, want %v, %v", runs, samples, name, l, got.Above(l), got.Below(l), above, below)
					}
				}
			}
			same("again", tests.Ratio(base, head), false)
			same("sides swapped", tests.Ratio(head, base), true)
			reversed := func(x []WeightedCount) []WeightedCount {
				x = slices.Clone(x)
				slices.Reverse(x)
				return x
			}
			same("runs in another order", tests.Ratio(reversed(base), reversed(head)), false)
			scaled := func(x []WeightedCount, f float64) []WeightedCount {
				x = slices.Clone(x)
				for i := range x {
					x[i].Weight *= f
					x[i].WeightSq *= f * f
				}
				return x
			}
			same("all weights scaled", tests.Ratio(scaled(base, 0x1p-20), scaled(head, 0x1p-20)), false)
		}
	}
}

// TestNaNp is of p values that are not numbers.
func TestNaNp(t *testing.T) {
	if got := Holm([]float64{nan, 0.01}); got[0] != 1 || got[1] != 0.02 {
		t.Errorf("Holm: %v", got)
	}
	if got := BenjaminiHochberg([]float64{nan, 0.01}); got[0] != 1 || got[1] != 0.02 {
		t.Errorf("BenjaminiHochberg: %v", got)
	}
	if Holm(nil) == nil || BenjaminiHochberg(nil) == nil {
		t.Error("no p values: want none")
	}
}

// TestProportionEdges is of proportions of nothing.
func TestProportionEdges(t *testing.T) {
	for _, test := range [][2]float64{{0, 0}, {nan, 5}, {5, nan}, {-1, 5}, {6, 5}, {1, -1}, {1, inf}} {
		if got := Proportion(test[0], test[1], 0.95); got != (Interval{0, 1}) {
			t.Errorf("Proportion(%v, %v) = %v, want everything", test[0], test[1], got)
		}
	}
}

func TestQuantileEvents(t *testing.T) {
	for _, test := range []struct {
		q    float64
		want int
	}{{0.5, 6}, {0.9, 36}, {0.95, 72}, {0.99, 368}, {0, 0}, {1, 0}, {nan, 0}} {
		got := QuantileEvents(test.q, 0.95)
		if got != test.want {
			t.Errorf("QuantileEvents(%v) = %d, want %d", test.q, got, test.want)
		}
		if got == 0 {
			continue
		}
		events := make([]float64, got)
		if i := QuantileInterval(events, test.q, 0.95); math.IsInf(i.Lo, 0) || math.IsInf(i.Hi, 0) {
			t.Errorf("quantile %v of %d events: %v", test.q, got, i)
		}
		if i := QuantileInterval(events[1:], test.q, 0.95); !math.IsInf(i.Lo, 0) && !math.IsInf(i.Hi, 0) {
			t.Errorf("quantile %v of %d events is bounded: %v", test.q, got-1, i)
		}
	}
}

// blockPhi is [BlockSumsPhi] of residuals in order of time; 1 if there are too few for two
// in each block.
func blockPhi(residuals []float64) float64 {
	if len(residuals) < 2*PhiBlocks {
		return 1
	}
	var independent float64
	var sums [PhiBlocks]float64
	for b := range sums {
		lo, hi := b*len(residuals)/PhiBlocks, (b+1)*len(residuals)/PhiBlocks
		for _, r := range residuals[lo:hi] {
			sums[b] += r
			independent += r * r
		}
	}
	return BlockSumsPhi(&sums, independent)
}

func TestBlockPhi(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	independent, bursts := make([]float64, 12000), make([]float64, 12000)
	for i := range bursts {
		independent[i] = rng.NormFloat64()
		bursts[i] = independent[i/20*20]
	}
	if phi := blockPhi(independent); phi > 2 {
		t.Errorf("independent samples: phi = %v, want about 1", phi)
	}
	if phi := blockPhi(bursts); phi < 10 || phi > 40 {
		t.Errorf("bursts of 20: phi = %v, want about 20", phi)
	}
	for _, x := range [][]float64{nil, bursts[:59], make([]float64, 100), {nan, 59: nan}} {
		if phi := blockPhi(x); phi != 1 {
			t.Errorf("%d residuals: phi = %v, want 1", len(x), phi)
		}
	}
	c := WeightedCount{Weight: 100, WeightSq: 50}.inflate(4)
	if c.Weight != 100 || c.WeightSq != 200 || c.Effective() != 50 {
		t.Errorf("inflated: %v", c)
	}
}
