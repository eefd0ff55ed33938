package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func countedRuns(values []float64) (runs []WeightedCount) {
	for _, v := range values {
		runs = append(runs, WeightedCount{Weight: v})
	}
	return runs
}

// TestLevel compares with scipy 1.17: wilcoxon(method="exact") and ttest_1samp of the
// logarithms, the Walsh averages of the logarithms, poisson and chi2.
func TestLevel(t *testing.T) {
	runs := countedRuns([]float64{103, 98.5, 110.2, 95.1, 101.7, 99.9, 107.3, 104.4, 92.8, 105.5})
	tests := New(0.95)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	signed, student := tests.Level(runs, true), tests.Level(runs, false)
	if signed.Method != SignedRank || student.Method != StudentT || signed.Capped || student.Capped {
		t.Errorf("methods %s, %s", signed.Method, student.Method)
	}
	for _, want := range []struct{ limit, above, below, studentAbove, studentBelow float64 }{
		{95, 0.0029296875, 0.998046875, 0.0014743720502297, 0.99852562794977},
		{100, 0.1875, 0.8388671875, 0.17116744884739, 0.82883255115261},
		{104, 0.8623046875, 0.1611328125, 0.889769942360926, 0.110230057639074},
		{108, 0.998046875, 0.0029296875, 0.996884211779681, 0.00311578822031876},
	} {
		near("signed ranks above", signed.Above(want.limit), want.above)
		near("signed ranks below", signed.Below(want.limit), want.below)
		near("t above", student.Above(want.limit), want.studentAbove)
		near("t below", student.Below(want.limit), want.studentBelow)
	}
	near("estimate", signed.Ratio, 101.93993329407273)
	near("lo", signed.CI.Lo, 97.76707012077226)
	near("hi", signed.CI.Hi, 105.84006802718898)
	near("mean", student.Ratio, 101.70967496389177)
	near("lo", student.CI.Lo, 97.89210029)
	near("hi", student.CI.Hi, 105.67612658)

	one := tests.Level([]WeightedCount{{Weight: 50, WeightSq: 500}}, true) // 5 samples
	if one.Method != SamplingExact || !one.Capped {
		t.Errorf("one run: %+v", one)
	}
	near("more than 30", one.Above(30), 0.18473675547622787)
	near("less than 30", one.Below(30), 0.9160820579686966)
	near("lo", one.CI.Lo, 10*1.6234863901184207)
	near("hi", one.CI.Hi, 10*11.66833207932267)

	exact := tests.Level(countedRuns([]float64{7, 7}), true)
	if exact.Method != Exact || exact.Above(6.9) != 0 || exact.Above(7) != 1 || exact.Below(7) != 1 {
		t.Errorf("counted values: %+v", exact)
	}
	for _, runs := range [][]WeightedCount{nil, countedRuns([]float64{1}), countedRuns([]float64{0, 0}), countedRuns([]float64{1, math.NaN()})} {
		if e := tests.Level(runs, true); e.Refused == "" || e.Above(0.1) != 1 || e.Below(10) != 1 {
			t.Errorf("%v is not refused: %+v", runs, e)
		}
	}
}

// TestLevelErrs simulates limits that are the truth.
func TestLevelErrs(t *testing.T) {
	const builds = 4000
	for _, n := range []int{4, 8, 10, 20} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		tests := New(0.95)
		wrong, below, shown := 0, 0, 0
		for range builds {
			runs := make([]WeightedCount, n)
			for i := range runs {
				w := 100 * math.Exp(0.05*rng.NormFloat64())
				runs[i] = WeightedCount{Weight: w, WeightSq: w * w / 400}
			}
			e := tests.Level(runs, true)
			if e.Above(100) <= 0.05 {
				wrong++
			}
			if e.Below(100) <= 0.05 {
				below++
			}
			if e.Above(80) <= 0.05 {
				shown++
			}
		}
		if most := int(0.058 * builds); wrong > most || below > most {
			t.Errorf("%d runs: %d and %d of %d are wrong", n, wrong, below, builds)
		}
		if float64(shown) < 0.95*builds {
			t.Errorf("%d runs: a limit exceeded by 20 %% is shown in %d of %d", n, shown, builds)
		}
	}
}

// TestLevelZeros has runs without a sample. They are not above anything, and what stands
// in for them is neither the estimate nor the lower end of the interval.
func TestLevelZeros(t *testing.T) {
	const unit = 100
	samples := func(counts ...float64) (runs []WeightedCount) {
		for _, n := range counts {
			runs = append(runs, WeightedCount{Weight: n * unit, WeightSq: n * unit * unit})
		}
		return runs
	}
	for _, tt := range []struct {
		name  string
		runs  []WeightedCount
		ranks bool
		want  float64 // estimate
	}{
		{"ranks, most without", samples(0, 0, 1, 0, 0, 0, 1, 0, 1, 0), true, 0},
		{"ranks, all without but one", samples(0, 0, 0, 0, 2, 0, 0, 0, 0, 0), true, 0},
		{"ranks, one without", samples(4, 4, 4, 4, 4, 4, 0, 4, 4, 4), true, 4 * unit},
		{"t, one without", samples(1, 1, 0, 1), false, unit * (math.Pow(1.5, 0.75)*math.Pow(0.5, 0.25) - 0.5)},
	} {
		e := New(0.95).Level(tt.runs, tt.ranks)
		if math.Abs(e.Ratio-tt.want) > 1e-9*unit || e.CI.Lo != 0 || !(e.CI.Hi >= e.Ratio) {
			t.Errorf("%s: estimate %v in %v, want %v in [0, …]", tt.name, e.Ratio, e.CI, tt.want)
		}
		if p := e.Above(unit / 100); p <= 0.025 {
			t.Errorf("%s: is above a hundredth of a sample, p %v", tt.name, p)
		}
		if p := e.Below(1000 * unit); p > 0.025 {
			t.Errorf("%s: is not below a thousand samples, p %v", tt.name, p)
		}
	}
}

// TestLevelFewSamplesErrs simulates limits that are the truth, with so few samples that
// there are runs without.
func TestLevelFewSamplesErrs(t *testing.T) {
	const builds = 2000
	for _, n := range []int{5, 8, 10, 20} {
		for _, mean := range []float64{0.1, 0.3, 0.5, 0.9, 1.5, 3} {
			poisson := distuv.Poisson{Lambda: mean, Src: rand.NewPCG(uint64(n), uint64(1000*mean))}
			tests := New(0.95)
			above := 0
			for range builds {
				runs := make([]WeightedCount, n)
				for i := range runs {
					k := poisson.Rand()
					runs[i] = WeightedCount{Weight: k, WeightSq: k}
				}
				if e := tests.Level(runs, true); e.Refused == "" && e.Above(mean) <= 0.025 {
					above++
				}
			}
			if share := float64(above) / builds; share > 0.03 {
				t.Errorf("%d runs of %v samples: above the truth in %.4f", n, mean, share)
			}
		}
	}
}

// TestLevelOfZeros checks that a limit of 0 is compared with runs of which some cost nothing:
// the logarithms of both are -Inf.
func TestLevelOfZeros(t *testing.T) {
	runs := make([]WeightedCount, 10)
	for i := range runs[2:] {
		runs[i+2] = WeightedCount{Weight: float64(100 + i), WeightSq: float64(100 + i)}
	}
	e := New(0.95).Level(runs, true)
	if e.Method != SignedRank {
		t.Fatalf("the method is %s", e.Method)
	}
	if above, below := e.Above(0), e.Below(1e-300); !(above > 0 && above < 0.05) || below < 0.95 {
		t.Errorf("above 0 with p %v, below almost 0 with p %v", above, below)
	}
}
