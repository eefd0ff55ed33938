package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPairsMethod(t *testing.T) {
	tests := New(0.95)
	for _, test := range []struct {
		pairs  int
		alpha  float64
		want   Method
		capped bool
	}{
		{1, 0.05, Sampling, true},
		{2, 0.05, PairedT, true},
		{3, 0.05, PairedT, true},
		{4, 0.05, PairedT, false},
		{7, 0.05, PairedT, false},
		{8, 0.05, SignedRank, false},
		{8, 0.025, SignedRank, false},
		{8, 0.0155, PairedT, false}, // 2⁻⁸ is .0039
		{10, 0.0025, PairedT, false},
		{11, 0.0025, SignedRank, false},
		{15, 0.0001, PairedT, false},
		{16, 0.0001, SignedRank, false},
		{100, 0, PairedT, false},
	} {
		rng := rand.New(rand.NewPCG(1, uint64(test.pairs)))
		s := source{mean: 1000, sd: 0.02}
		e := tests.Pairs(s.runs(rng, test.pairs), s.runs(rng, test.pairs), test.alpha)
		if e.Method != test.want || e.Capped != test.capped || e.Refused != "" {
			t.Errorf("%d pairs at %v: %s, capped %v, refused %q; want %s", test.pairs, test.alpha, e.Method, e.Capped, e.Refused, test.want)
		}
	}
	for _, test := range [][2][]WeightedCount{
		{sampled(1, 2, 3), sampled(1, 2)},
		{nil, nil},
		{sampled(0, 0, 0, 0), sampled(0, 0, 0, 0)},
		{sampled(1, 2, 3, 4), counted(1, 2, 3, math.NaN())},
	} {
		if e := tests.Pairs(test[0], test[1], 0.05); e.Refused == "" || e.P != 1 || e.Above(1) != 1 || e.Below(1) != 1 {
			t.Errorf("%v: not refused: %+v", test, e)
		}
	}
	if e := tests.Pairs(counted(7, 7, 7, 7), counted(8, 8, 8, 8), 0.05); e.Method != Exact || e.P != 0 || e.Ratio != 8.0/7 {
		t.Errorf("counted and equal in all runs: %+v", e)
	}
}

// drifting are pairs in ABBA order, in which the machine gets slower by drift from the
// first run to the last.
func drifting(rng *rand.Rand, n int, sd, drift, ratio float64) (base, head []WeightedCount) {
	for k := range n {
		for at := range 2 {
			cost := 1e6 * math.Exp(sd*rng.NormFloat64()) * (1 + drift*float64(2*k+at)/float64(2*n-1))
			if (at == 1) == (k%2 == 0) {
				head = append(head, WeightedCount{Weight: cost * ratio, WeightSq: cost * ratio})
			} else {
				base = append(base, WeightedCount{Weight: cost, WeightSq: cost})
			}
		}
	}
	return base, head
}

// TestPairsUnderDrift is of what two groups of runs hide: drift is noise of each group, and
// not of pairs.
func TestPairsUnderDrift(t *testing.T) {
	tests := New(0.95)
	for _, n := range []int{5, 10} {
		base, head := drifting(rand.New(rand.NewPCG(1, uint64(n))), n, 0.01, 0.2, 1.05)
		pairs, groups := tests.Pairs(base, head, 0.025), tests.Ratio(base, head)
		if pairs.P > 0.01 || !pairs.CI.Contains(1.05) || pairs.CI.Contains(1) {
			t.Errorf("%d pairs: %v %v, p %v", n, pairs.Ratio, pairs.CI, pairs.P)
		}
		if groups.P <= 0.05 {
			t.Errorf("%d runs a side without pairs: p %v: the drift does not disturb", n, groups.P)
		}
		if p, need := pairs.RunsNeeded(math.Log(1.05), 0.025, 0.9), groups.RunsNeeded(math.Log(1.05), 0.025, 0.9); p > n || need <= n {
			t.Errorf("%d runs: %d pairs needed, %d runs without pairs", n, p, need)
		}
		if p, smallest := pairs.SmallestDetectable(0.05, 0.9), groups.SmallestDetectable(0.05, 0.9); p >= 0.05 || smallest <= 0.05 {
			t.Errorf("%d runs: pairs detect %v, groups %v", n, p, smallest)
		}
	}
}

// bruteSum is the sum of ranks of all pairs of ratios, one by one.
func bruteSum(b *blurred, limit float64) float64 {
	probability := func(q, r *[parts + 1]float64) (p float64) {
		for i := range parts {
			for j := range parts {
				y := spot{at: (q[i] + q[i+1]) / 2, width: q[i+1] - q[i]}
				x := spot{at: 2*limit - (r[j]+r[j+1])/2, width: r[j+1] - r[j]}
				// The probability that y is larger, by the midpoints of a fine grid.
				const grid = 400
				for k := range grid {
					at := y.at + y.width*((float64(k)+0.5)/grid-0.5)
					p += min(1, max(0, (at-x.at)/x.width+0.5)) / (parts * parts * grid)
				}
			}
		}
		return p
	}
	var ratios []*[parts + 1]float64
	for i := range b.ratios {
		ratios = append(ratios, slices.Repeat([]*[parts + 1]float64{&b.ratios[i].quartiles}, int(b.ratios[i].pairs))...)
	}
	sum := 0.0
	for i, q := range ratios {
		sum += 1 - share(q, limit)
		for _, r := range ratios[:i] {
			sum += probability(q, r)
		}
		sum += float64(b.tied)*(1-share(q, limit)) + float64(b.high)
	}
	tied, high := float64(b.tied), float64(b.high)
	return sum + tied*(tied+1)/4 + high*tied + high*(high+1)/2
}

func TestBlurredSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, mean := range []float64{0.3, 1, 3, 30, 1000} {
		for _, n := range []int{8, 13, 30} {
			s := source{mean: mean, sd: 0.1}
			base, head := s.runs(rng, n), s.times(1.1).runs(rng, n)
			sides, refused := newSides(base, head)
			if refused != "" {
				continue
			}
			for _, floors := range [][2]bool{{false, false}, {true, false}, {false, true}} {
				b := newBlurred(sides, floors[0], floors[1])
				for _, limit := range []float64{-20, -1, -0.05, 0, 0.01, 0.3, 20} {
					got, want := b.sum(limit), bruteSum(b, limit)
					if math.Abs(got-want) > 2e-3*float64(n) {
						t.Errorf("%v samples, %d pairs, floors %v, limit %v: sum %v, want %v", mean, n, floors, limit, got, want)
					}
				}
			}
			// The other way round, everything is the other way round; the order of pairs does
			// not matter.
			swapped, _ := newSides(head, base)
			slices.Reverse(swapped.base)
			slices.Reverse(swapped.head)
			a, b := newBlurred(sides, false, false), newBlurred(swapped, false, false)
			for _, limit := range []float64{0, 0.07, -0.4} {
				if x, y := a.sum(limit), b.sum(-limit); math.Abs(x+y-float64(n*(n+1))/2) > 1e-9*float64(n*n) {
					t.Errorf("%v samples, %d pairs, limit %v: sums %v and %v", mean, n, limit, x, y)
				}
			}
		}
	}
	// Of many samples it is the sum of ranks.
	base, head := source{1e7, 0.05, 0}.runs(rng, 20), source{1e7, 0.05, 0}.runs(rng, 20)
	sides, _ := newSides(base, head)
	x := make(values, 20)
	for i := range x {
		x[i] = math.Log(head[i].Weight / base[i].Weight)
	}
	for _, limit := range []float64{-0.02, 0, 0.01} {
		if got, want := newBlurred(sides, false, false).sum(limit), x.sum(limit); math.Abs(got-want) > 0.1 {
			t.Errorf("limit %v: %v, ranks %v", limit, got, want)
		}
	}
}

func TestPairsOfFewSamples(t *testing.T) {
	tests := New(0.95)
	for _, n := range []int{5, 12} {
		alpha := 0.05
		// What is new is above something, gone is below something, and zeros do not say by
		// how much.
		zero, some := make([]WeightedCount, n), slices.Repeat(sampled(40), n)
		for i := range some {
			some[i].Weight += float64(i)
		}
		e := tests.Pairs(zero, some, alpha)
		if !math.IsInf(e.Ratio, 1) || !math.IsInf(e.CI.Hi, 1) || e.CI.Lo < 5 || e.P > 0.01 || n >= rankRuns && e.Below(1e6) < 0.9 {
			t.Errorf("%d pairs, new: %v %v, p %v", n, e.Ratio, e.CI, e.P)
		}
		e = tests.Pairs(some, zero, alpha)
		if e.Ratio != 0 || e.CI.Lo != 0 || e.CI.Hi > 0.2 || e.P > 0.01 || n >= rankRuns && e.Above(1e-6) < 0.9 {
			t.Errorf("%d pairs, gone: %v %v, p %v", n, e.Ratio, e.CI, e.P)
		}
		// A limit of 5 % does not tell one sample from 1.05 times one.
		one := slices.Repeat(sampled(1), n)
		e = tests.Pairs(one, one, alpha)
		if e.Below(1.05) < 0.2 || e.Above(1/1.05) < 0.2 || math.Abs(e.Ratio-1) > 1e-8 {
			t.Errorf("%d pairs of one sample: %v %v, below 1.05 %v, above 1/1.05 %v", n, e.Ratio, e.CI, e.Below(1.05), e.Above(1/1.05))
		}
		// Far limits need samples.
		few, many := slices.Repeat(sampled(3), n), slices.Repeat(sampled(300), n)
		for i := range few {
			few[i].Weight += float64(i%2) / 2
			many[i].Weight += float64(i % 3)
		}
		if e := tests.Pairs(few, few, alpha); e.Below(0.5) != 1 || e.Above(2) != 1 || math.Abs(e.Below(2)-e.Below(1.4999999)) > 1e-6 || math.Abs(e.Above(0.5)-e.Above(0.66666667)) > 1e-6 || e.Below(1.49) == 1 {
			t.Errorf("%d pairs of 3 samples: below 2 %v, above 0.5 %v, below 1.49 %v", n, e.Below(2), e.Above(0.5), e.Below(1.49))
		}
		if e := tests.Pairs(many, many, alpha); e.Below(2) > 0.01 || e.Above(0.5) > 0.01 {
			t.Errorf("%d pairs of 300 samples: below 2 %v, above 0.5 %v", n, e.Below(2), e.Above(0.5))
		}
	}
	// Counted zeros are true zeros, and pairs without any say nothing.
	e := tests.Pairs(counted(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), counted(5, 6, 7, 8, 9, 10, 11, 0, 0, 12), 0.05)
	if e.Method != SignedRank || !math.IsInf(e.Ratio, 1) || e.P > 0.02 || e.P < 2*math.Ldexp(1, -8)/4 {
		t.Errorf("counted and new: %+v", e)
	}
}

func TestPairsAgree(t *testing.T) {
	tests := New(0.95)
	rng := rand.New(rand.NewPCG(5, 1))
	for range 200 {
		n := 2 + rng.IntN(30)
		s := source{mean: math.Exp(8*rng.Float64() - 1), sd: 0.05}
		base, head := s.runs(rng, n), s.times(1+rng.Float64()).runs(rng, n)
		e := tests.Pairs(base, head, 0.025)
		if e.Refused != "" {
			continue
		}
		if !(e.CI.Lo <= e.Ratio && e.Ratio <= e.CI.Hi) {
			t.Fatalf("%v %v: ratio %v is not in %v", base, head, e.Ratio, e.CI)
		}
		if quick := tests.TestPairs(base, head, 0.025); quick.P != e.P || quick.Above(1.1) != e.Above(1.1) || quick.Below(1.1) != e.Below(1.1) {
			t.Fatalf("without interval p %v, with %v", quick.P, e.P)
		}
		swapped := tests.Pairs(head, base, 0.025)
		if math.Abs(swapped.P-e.P) > 1e-9 || math.Abs(swapped.Above(1/1.1)-e.Below(1.1)) > 1e-9 {
			t.Fatalf("%v %v: p %v, swapped %v", base, head, e.P, swapped.P)
		}
		// The ends of the interval are where the limit is just rejected, if nothing is
		// known of far limits.
		if far := math.Exp(farLimit); e.CI.Hi < far && e.CI.Hi > 1/far {
			if p := e.Below(e.CI.Hi * (1 + 1e-6)); p > 0.0251 {
				t.Fatalf("%d pairs of %v: above the interval %v p is %v", n, s.mean, e.CI, p)
			}
		}
	}
}
