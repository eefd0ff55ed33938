package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// singles are runs of one value each: 1, 2, … n.
func singles(n int) (runs [][]float64) {
	for i := range n {
		runs = append(runs, []float64{float64(i + 1)})
	}
	return runs
}

// TestDistributionOfSingleValues checks that runs of one value are the independent events of
// QuantileInterval, also in how many of them bound a quantile.
func TestDistributionOfSingleValues(t *testing.T) {
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		for _, n := range []int{5, 20, QuantileEvents(q, 0.95) - 1, QuantileEvents(q, 0.95), 1000} {
			d := NewDistribution(singles(n))
			got, want := d.QuantileInterval(q, 0.95), QuantileInterval(d.sorted, q, 0.95)
			if math.IsInf(want.Hi, 1) != math.IsInf(got.Hi, 1) || math.IsInf(want.Lo, -1) != math.IsInf(got.Lo, -1) || got.Lo > want.Lo || got.Hi < want.Hi || want.Lo-got.Lo > 1 || got.Hi-want.Hi > 1 {
				t.Errorf("%d values, q %v: %v, want %v or next to it", n, q, got, want)
			}
		}
	}
}

// TestRunsThatDiffer checks that values count as few as the runs if these differ as wholes.
func TestRunsThatDiffer(t *testing.T) {
	var runs [][]float64
	for i := range 20 {
		runs = append(runs, nil)
		for j := range 100 {
			runs[i] = append(runs[i], 100*float64(i)+float64(j))
		}
	}
	d := NewDistribution(runs)
	if n := d.effectiveOf(0.5); n < 15 || n > 25 {
		t.Errorf("2,000 values of 20 runs that do not overlap count as %.1f, not as about 20", n)
	}
	one := NewDistribution([][]float64{d.sorted})
	wide, narrow := d.QuantileInterval(0.5, 0.95), one.QuantileInterval(0.5, 0.95)
	if w, n := wide.Hi-wide.Lo, narrow.Hi-narrow.Lo; w < 5*n {
		t.Errorf("interval %v over runs is hardly wider than %v of independent values", wide, narrow)
	}
}

// TestTailOnly is a change whose figures are known: one start of ten is slow, 100 and not 10. Of
// the others nothing changes.
func TestTailOnly(t *testing.T) {
	side := func(slow float64) (runs [][]float64) {
		for i := range 10 {
			var run []float64
			for j := range 100 {
				v := 10 + float64((i+j)%7)/10
				if j%10 == 9 {
					v = slow + float64(i%5)
				}
				run = append(run, v)
			}
			runs = append(runs, run)
		}
		return runs
	}
	base, head := NewDistribution(side(100)), NewDistribution(side(58))
	tests := New(0.95)
	mean, median, p95 := tests.Mean(base, head), tests.Quantile(base, head, 0.5), tests.Quantile(base, head, 0.95)
	got := []float64{mean.Ratio, median.Ratio, p95.Ratio}
	want := []float64{(9*10.3 + 60) / (9*10.3 + 102), 1, 60.0 / 102}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0.01, 0)); diff != "" {
		t.Errorf("mean, p50, p95 (-want +got):\n%s", diff)
	}
	if !median.CI.Contains(1) || p95.CI.Hi > 0.7 || mean.CI.Hi > 0.9 {
		t.Errorf("intervals: mean %v, p50 %v, p95 %v", mean.CI, median.CI, p95.CI)
	}
	if c := tests.Contrast(base, head, 0.5, 0.95); c.CI.Hi > 0.7 || c.P > 1e-3 {
		t.Errorf("p95 against p50: %v, p %v", c.CI, c.P)
	}
	over := tests.Over(base, head, 80)
	if over.Ratio != 0 || over.P > 0.01 || base.Over(80) != 0.1 {
		t.Errorf("over 80: %v, p %v", over.Ratio, over.P)
	}
}

// TestNotPositive checks that what has no ratio is compared by differences, in parts of base.
func TestNotPositive(t *testing.T) {
	shift := func(by float64) (runs [][]float64) {
		for i := range 20 {
			runs = append(runs, []float64{by + float64(i%5), by - float64(i%3)})
		}
		return runs
	}
	e := New(0.95).Quantile(NewDistribution(shift(-20)), NewDistribution(shift(-10)), 0.5)
	if math.Abs(e.Ratio-1.5) > 0.05 || e.Above(1) > 1e-3 || e.Below(1) < 0.5 {
		t.Errorf("from -20 to -10: %v %v, above 1 %v, below %v", e.Ratio, e.CI, e.Above(1), e.Below(1))
	}
}

// TestInverse checks that an estimate and its inverse say the same.
func TestInverse(t *testing.T) {
	var base, head []WeightedCount
	for i := range 6 {
		base = append(base, WeightedCount{Weight: 200 + float64(i)})
		head = append(head, WeightedCount{Weight: 100 + float64(i%3)})
	}
	e := Ratio(base, head, 0.95)
	i, same := e.Inverse(), Ratio(head, base, 0.95)
	got := []float64{i.Ratio, i.CI.Lo, i.CI.Hi, i.Above(1.9), i.Below(2.1)}
	want := []float64{same.Ratio, same.CI.Lo, same.CI.Hi, same.Above(1.9), same.Below(2.1)}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 1e-12)); diff != "" {
		t.Errorf("(-of the sides exchanged +inverse):\n%s", diff)
	}
}

// TestDistributionWithoutMuch checks what has no answer.
func TestDistributionWithoutMuch(t *testing.T) {
	tests, some := New(0.95), NewDistribution(singles(3))
	for name, d := range map[string]*Distribution{
		"nothing":   NewDistribution(nil),
		"no number": NewDistribution([][]float64{{math.NaN()}}),
		"one value": NewDistribution([][]float64{{1}}),
		"equal":     NewDistribution([][]float64{{2, 2}, {2, 2}, {2}}),
		"infinite":  NewDistribution([][]float64{{math.Inf(1)}, {2, math.Inf(1)}}),
		"zeros":     NewDistribution([][]float64{{0, 0}, {0, 0, 1}}),
		"negative":  NewDistribution([][]float64{{-1, -2}, {-3}}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []Estimate{
				tests.Quantile(some, d, 0.9), tests.Quantile(d, some, 0.5), tests.Mean(some, d), tests.Over(d, some, 1),
				tests.Contrast(some, d, 0.5, 0.9), tests.QuantileLevel(d, 0.5), tests.MeanLevel(d), tests.OverLevel(d, 1),
			} {
				for _, p := range []float64{e.P, e.Above(1), e.Below(1), e.Above(2), e.Below(0.5)} {
					if !(p >= 0 && p <= 1) {
						t.Errorf("%v: p %v", e.Method, p)
					}
				}
				if e.CI.Lo > e.CI.Hi {
					t.Errorf("%v: interval %v", e.Method, e.CI)
				}
				e.SmallestDetectable(0.05, 0.9)
				e.RunsNeeded(0.1, 0.05, 0.9)
			}
		})
	}
}
