package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ranks compares by the Mann-Whitney test of whether head, divided by the ratio, and
// base have one distribution. The ratios that it does not reject are the interval, and
// the one that agrees best, the median of the ratios of all pairs, is the estimate
// (Hodges and Lehmann, 1963).
func (t *Tests) ranks(e *Estimate, s sides, interval bool) {
	r := newRanked(t, s)
	if interval {
		t.rankInterval(e, s, r)
	}
	e.finish(r)
}

func (t *Tests) rankInterval(e *Estimate, s sides, r *ranked) {
	zeros := 0
	if !s.sampled && s.zeroBase > 0 && s.zeroHead > 0 {
		zeros = s.zeroBase + s.zeroHead // tied at any ratio
	}
	null := t.null(len(s.base), len(s.head), zeros)
	half := float64(null.pairs) / 2
	alpha := (1 - t.level) / 2

	// Sums of wins are rounded; what is half of the pairs up to that is half.
	some := rounding * half
	guess, step := r.middle()
	least := r.last(guess, step, func(l float64) (float64, bool) {
		w := wins(r.ratio(l), r.base, r.head)
		return w - half, w > half+some
	})
	most := r.last(least+r.grain, r.grain, func(l float64) (float64, bool) {
		w := wins(r.ratio(l), r.base, r.head)
		return w - half, w >= half-some
	})
	estimate := (least + most) / 2
	// The test of normal data has an interval about so wide.
	width := step * mathext.NormalQuantile(1-alpha)
	rare := valueAt(alpha, 0, half, null.below)
	r.lo = r.last(least-width, width/4, func(l float64) (float64, bool) {
		w := wins(r.ratio(l), r.base, r.headFloor)
		return w + rare - 2*half, null.above(w) <= alpha
	})
	r.hi = r.last(most+width, width/4, func(l float64) (float64, bool) {
		w := wins(r.ratio(l), r.baseFloor, r.head)
		return w - rare, null.below(w) > alpha
	})
	e.Ratio, e.CI = math.Exp(estimate), Interval{math.Exp(r.lo), math.Exp(r.hi)}
	if ratio, ok := s.without(); ok {
		e.Ratio = ratio
	}
	r.alpha = alpha
	if !s.sampled {
		r.alpha = null.above(null.leastAbove(alpha))
	}
}

// ranked are the runs of both sides, sorted, in units of the largest.
type ranked struct {
	tests      *Tests
	base, head *spots // zeros are up to half a sample
	// The same with zeros that are nothing: what the ratio is proven to be above
	// must not rest on what may be in the zeros of head.
	baseFloor, headFloor *spots
	tied                 bool // counted, not sampled: equal values are tied

	search // for the logarithm of a ratio

	lo, hi float64
	alpha  float64 // the one-sided p at which lo and hi are the ends of the interval
}

func newRanked(t *Tests, s sides) *ranked {
	r := &ranked{tests: t, tied: !s.sampled, search: search{grain: rounding}}
	if s.sampled {
		r.grain = 1e-9
	}
	least, most := math.Inf(1), 0.0
	for _, runs := range [][]WeightedCount{s.base, s.head} {
		for _, c := range runs {
			most = max(most, c.Weight)
			if c.Weight > 0 {
				least = min(least, c.Weight)
			}
		}
	}
	half := s.half
	if s.sampled && half > 0 {
		least = min(least, half)
	} else {
		half = 0
	}
	r.base, r.head = newSpots(s.base, half, most), newSpots(s.head, half, most)
	r.baseFloor, r.headFloor = r.base, r.head
	if half > 0 {
		r.baseFloor, r.headFloor = r.base.floor(), r.head.floor()
	}
	r.to = min(math.Log(most)-math.Log(least)+7, 700)
	r.from = -r.to
	return r
}

// middle guesses the logarithm of the ratio, and its standard error, from quartiles.
func (r *ranked) middle() (guess, error float64) {
	variance := 0.0
	quartiles := func(s *spots) (middle float64) {
		var q [3]float64
		runs, k := 0, 0
		for i := range s.list {
			for runs += int(s.list[i].runs); k < 3 && 4*runs >= (k+1)*int(s.runs); k++ {
				q[k] = math.Log(s.list[i].at)
			}
		}
		sd := (q[2] - q[0]) / 1.35
		variance += sd * sd / float64(s.runs)
		return q[1]
	}
	guess = quartiles(r.head) - quartiles(r.base)
	error = math.Sqrt(variance)
	if math.IsNaN(guess) || math.IsInf(guess, 0) {
		guess = 0
	}
	if !(error < r.to) {
		error = 1
	}
	return guess, max(error, 4*r.grain)
}

func (r *ranked) above(limit float64) float64 {
	return r.null(limit).above(wins(r.ratio(limit), r.base, r.headFloor))
}

func (r *ranked) below(limit float64) float64 {
	return r.null(limit).below(wins(r.ratio(limit), r.baseFloor, r.head))
}

// ratio is the ratio of which limit is the logarithm, if that is not beyond any pair.
func (r *ranked) ratio(limit float64) float64 { return math.Exp(min(max(limit, r.from), r.to)) }

// null is the distribution of wins if the ratio with logarithm limit is true: that of
// ties if runs of both sides are tied. Ties within a side do not move the wins, and what
// was sampled is not tied, but near.
func (r *ranked) null(limit float64) *null {
	n, m := int(r.base.runs), int(r.head.runs)
	if !r.tied {
		return r.tests.null(n, m, 0)
	}
	ratio := r.ratio(limit)
	base, head := r.base.list, r.head.list
	groups := make([]int, 0, len(base)+len(head)) // numbers of tied runs, ascending
	zeros, tied := 0, false
	for len(base)+len(head) > 0 {
		// A group starts with the lowest run left.
		at := math.Inf(1)
		if len(base) > 0 {
			at = ratio * base[0].at
		}
		if len(head) > 0 {
			at = min(at, head[0].at)
		}
		end := at * (1 + rounding)
		ofBase, ofHead := 0, 0
		for ; len(base) > 0 && ratio*base[0].at <= end; base = base[1:] {
			ofBase += int(base[0].runs)
		}
		for ; len(head) > 0 && head[0].at <= end; head = head[1:] {
			ofHead += int(head[0].runs)
		}
		if ofBase > 0 && ofHead > 0 {
			if at == 0 {
				zeros = ofBase + ofHead
			} else {
				tied = true
			}
		}
		groups = append(groups, ofBase+ofHead)
	}
	switch {
	case tied && n*m <= tiedPairs:
		return newNull(n, m, groups)
	case tied:
		return newNormalNull(n, m, groups)
	}
	return r.tests.null(n, m, zeros)
}

func (r *ranked) detectable(alpha, power float64) float64 {
	s, n, m := r.spread(), int(r.base.runs), int(r.head.runs)
	if !s.known || 2*LeastRankP(n, m) > alpha {
		return math.Inf(1)
	}
	se := s.sd * math.Sqrt(1/float64(n)+1/float64(m))
	return math.Expm1(se * shiftOf(power, math.Inf(1), alpha/2))
}

// spread is the spread that normal data would have if it gave so wide an interval.
func (r *ranked) spread() spread {
	width := (r.hi - r.lo) / 2
	if math.IsInf(width, 0) || math.IsNaN(width) {
		return spread{}
	}
	se := width / mathext.NormalQuantile(1-r.alpha)
	return spread{sd: perRun(se, int(r.base.runs), int(r.head.runs)), known: true, ranks: true}
}
