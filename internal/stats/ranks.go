package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// ranks compares by the Mann-Whitney test of whether head, divided by the ratio, and
// base have one distribution. The ratios that it does not reject are the interval, and
// the one that agrees best, the median of the ratios of all pairs, is the estimate
// (Hodges and Lehmann, 1963).
func (t *Tests) ranks(e *Estimate, s sides) {
	r := &ranked{tests: t, base: logs(s.base, 0), head: logs(s.head, 0), lowest: math.Inf(-1)}
	if s.sampled {
		r.lowest = math.Log(s.half) // -Inf if there are no zeros
	}
	slices.Sort(r.base)
	slices.Sort(r.head)
	// Zeros on both sides are tied at any ratio.
	r.tiedZeros = s.zeroBase * s.zeroHead
	zeros := 0
	if r.tiedZeros > 0 {
		zeros = s.zeroBase + s.zeroHead
	}
	null := t.null(len(r.base), len(r.head), zeros)

	// One zero bounds the ratio of a pair on one side only.
	pairs := r.pairs(r.lowest, r.lowest)
	least, most := pairs, pairs
	if s.zeroHead > 0 {
		least = r.pairs(r.lowest, math.Inf(-1))
	}
	if s.zeroBase > 0 {
		most = r.pairs(math.Inf(-1), r.lowest)
	}
	r.estimate = (pairs[(len(pairs)-1)/2] + pairs[len(pairs)/2]) / 2
	r.lo, r.pLo = r.lower(least, null, (1-t.level)/2)
	r.hi = r.upper(most, null, (1-t.level)/2)
	e.Ratio, e.CI = math.Exp(r.estimate), Interval{math.Exp(r.lo), math.Exp(r.hi)}
	if ratio, ok := s.without(); ok {
		e.Ratio = ratio
	}
	e.finish(r)
}

// ranked are the logarithms of the runs of both sides, sorted; of a zero it is -Inf.
type ranked struct {
	tests      *Tests
	base, head []float64
	lowest     float64 // what cannot be told from zero, on the side with the larger samples
	tiedZeros  int     // pairs of zeros

	estimate, lo, hi float64
	pLo              float64 // the one-sided p at which lo is the end of the interval
}

// pairs are the differences head-base of all pairs but those of two zeros, sorted, with
// zeroBase and zeroHead for the zeros.
func (r *ranked) pairs(zeroBase, zeroHead float64) []float64 {
	d := make([]float64, 0, len(r.base)*len(r.head))
	for _, x := range r.base {
		for _, y := range r.head {
			switch {
			case math.IsInf(x, -1) && math.IsInf(y, -1):
			case math.IsInf(x, -1):
				d = append(d, y-zeroBase)
			case math.IsInf(y, -1):
				d = append(d, zeroHead-x)
			default:
				d = append(d, y-x)
			}
		}
	}
	slices.Sort(d)
	return d
}

// lower is the end of the one-sided interval at alpha, and the p that the test has
// there: the test rejects a ratio that enough of the pairs exceed.
func (r *ranked) lower(pairs []float64, null *null, alpha float64) (end, p float64) {
	u := null.leastAbove(alpha)
	switch g := (u - r.tiedZeros + 1) / 2; {
	case u > null.most() || g > len(pairs):
		return math.Inf(-1), alpha
	case u <= r.tiedZeros:
		return math.Inf(1), alpha
	default:
		return pairs[len(pairs)-g], null.above(u)
	}
}

func (r *ranked) upper(pairs []float64, null *null, alpha float64) float64 {
	switch u := null.mostBelow(alpha); {
	case u < r.tiedZeros:
		return math.Inf(1)
	case (u-r.tiedZeros)/2 >= len(pairs):
		return math.Inf(-1)
	default:
		return pairs[len(pairs)-1-(u-r.tiedZeros)/2]
	}
}

func (r *ranked) above(limit float64) float64 {
	u, null := r.place(limit)
	return null.above(u)
}

func (r *ranked) below(limit float64) float64 {
	u, null := r.place(limit)
	return null.below(u)
}

// place ranks head among base after multiplying base by the ratio with logarithm limit. It returns
// twice the number of pairs in which head is larger, a tie being half of one, and the
// distribution of that number if the ratio is true.
//
// Values that are as low as half a sample, of the side that has the larger samples after
// multiplying, cannot be told from zeros and are tied with them. Ties within a side do
// not move the number; only if values of both sides are tied, other than zeros, is the
// distribution that of these ties.
func (r *ranked) place(limit float64) (int, *null) {
	n, m := len(r.base), len(r.head)
	lowest := r.lowest + max(limit, 0) + rounding
	groups := make([]int, 0, n+m) // numbers of tied values, ascending
	u, zeros, tied := 0, 0, false
	for i, j := 0, 0; i < n || j < m; {
		// The group starts with the lowest value left.
		at := math.Inf(1)
		if i < n {
			at = r.base[i] + limit
		}
		if j < m {
			at = min(at, r.head[j])
		}
		end := at + rounding
		if at <= lowest {
			end = lowest
		}
		a, b := i, j
		for a < n && r.base[a]+limit <= end {
			a++
		}
		for b < m && r.head[b] <= end {
			b++
		}
		u += (b-j)*2*i + (b-j)*(a-i)
		if a > i && b > j {
			if at <= lowest {
				zeros = a - i + b - j
			} else {
				tied = true
			}
		}
		groups = append(groups, a-i+b-j)
		i, j = a, b
	}
	switch {
	case tied && n*m <= tiedPairs:
		return u, newNull(n, m, groups)
	case tied:
		return u, newNormalNull(n, m, groups)
	}
	return u, r.tests.null(n, m, zeros)
}

func (r *ranked) detectable(alpha, power float64) float64 {
	s := r.spread()
	if n, m := len(r.base), len(r.head); !s.known || 2*LeastRankP(n, m) > alpha {
		return math.Inf(1)
	} else {
		se := s.sd * math.Sqrt(1/float64(n)+1/float64(m))
		return math.Expm1(se * shiftOf(power, math.Inf(1), alpha/2))
	}
}

// spread is that of normal data that would give so wide an interval.
func (r *ranked) spread() spread {
	width := (r.hi - r.lo) / 2
	if math.IsInf(width, 0) || math.IsNaN(width) {
		return spread{}
	}
	se := width / distuv.UnitNormal.Quantile(1-r.pLo)
	return spread{sd: perRun(se, len(r.base), len(r.head)), known: true, ranks: true}
}
