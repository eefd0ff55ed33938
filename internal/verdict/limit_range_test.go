package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"profdiff/internal/stats"
)

// TestRangeAgrees draws families of limits on ratios and on levels, and checks that what is left
// open says the same as the verdict.
func TestRangeAgrees(t *testing.T) {
	tests := stats.New(Level)
	rng := rand.New(rand.NewPCG(7, 1))
	runs := func(n int, mean, noise, weight float64) (list []stats.WeightedCount) {
		for range n {
			samples := math.Round(mean * math.Exp(noise*rng.NormFloat64()))
			if weight == 0 {
				list = append(list, stats.WeightedCount{Weight: samples})
			} else {
				list = append(list, stats.WeightedCount{Weight: samples * weight, WeightSq: samples * weight * weight})
			}
		}
		return list
	}
	counts := make(map[Verdict]int)
	trials := 400
	if testing.Short() {
		trials = 120
	}
	for range trials {
		rule := LimitRule{Alpha: []float64{0.05, 0.01, 0.2}[rng.IntN(3)], Runs: LeastRuns + rng.IntN(6)}
		if look := rng.IntN(3); look > 0 {
			rule.Look, rule.Last = stats.Look(look), stats.SecondLook
		}
		var family []*Limit
		for range 1 + rng.IntN(12) {
			n, m := 1+rng.IntN(12), 1+rng.IntN(12)
			mean, noise := math.Pow(10, 4*rng.Float64()), 0.05*rng.Float64()
			weight := float64(rng.IntN(2)) * 1e6
			growth := math.Exp(0.2 * rng.NormFloat64())
			l := &Limit{Runs: min(n, m), FewSamples: rng.IntN(8) == 0, Stored: rng.IntN(8) == 0, Blocked: rng.IntN(10) == 0, Compared: rng.IntN(2) == 0}
			e := tests.Ratio(runs(n, mean, noise, weight), runs(m, mean*growth, noise, weight))
			unit := 1.0
			if rng.IntN(3) == 0 {
				unit = mean * max(1, weight)
				e = tests.Level(runs(m, mean*growth, noise, weight), m >= 8)
			}
			l.Estimate, l.Exact = &e, e.Method == stats.Exact
			l.FewSamples = l.FewSamples && !l.Exact
			if unit == 1 && !l.Exact && rng.IntN(6) == 0 {
				highest := tests.Ratio(runs(n, mean, noise, weight), runs(m, 1.1*mean*growth, noise, weight))
				l.Highest = &highest
			}
			fail, warn := unit*(1+0.3*rng.Float64()), unit*(1+0.1*rng.Float64())
			if kind := rng.IntN(4); kind > 0 {
				l.Fail = &fail
			}
			if l.Fail == nil || warn < fail && rng.IntN(2) == 0 {
				l.Warn = &warn
			}
			family = append(family, l)
		}
		rule.Judge(family)
		for _, l := range family {
			counts[l.Verdict]++
			left, bound := l.Range, l.Bound()
			beyond, within := left.Lo > bound, left.Hi <= bound
			if !(left.Lo <= left.Hi) {
				t.Fatalf("%s by %d: range %v", l.Verdict, l.Basis, left)
			}
			capped := l.Basis == ExceededByDesign || l.Fail == nil && l.Basis == WarnExceeded
			if (l.Verdict == Fail || capped) != beyond {
				t.Errorf("%s by %d of %v: range %v, limit %v, %s", l.Verdict, l.Basis, l.Value, left, bound, l.Method)
			}
			excluded := l.Verdict == Pass || l.Basis == Collapsed || l.Fail != nil && l.Basis == WarnExceeded
			if excluded != within {
				t.Errorf("%s by %d of %v: range %v, limit %v, %s", l.Verdict, l.Basis, l.Value, left, bound, l.Method)
			}
			if l.Warn != nil && (l.Warned || l.Basis == WarnExceeded) && !(left.Lo > *l.Warn) {
				t.Errorf("warned of %v: range %v, warning limit %v", l.Value, left, *l.Warn)
			}
			if l.WarnLeftOpen && !(left.Lo <= *l.Warn && left.Hi > *l.Warn) {
				t.Errorf("warning left open of %v: range %v, warning limit %v", l.Value, left, *l.Warn)
			}
			if l.Basis == NoTest && left != unknown {
				t.Errorf("nothing may be proven, but the range is %v", left)
			}
		}
	}
	for _, v := range Limits {
		if counts[v] < 20 {
			t.Errorf("%d limits of %d trials are %s: the example is none", counts[v], trials, v)
		}
	}
}
