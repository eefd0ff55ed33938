package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
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

	least := r.last(r.from, r.to, func(l float64) bool { return r.wins(l, r.base, r.head) > half })
	most := r.last(least, r.to, func(l float64) bool { return r.wins(l, r.base, r.head) >= half })
	estimate := (least + most) / 2
	r.lo = r.last(r.from, least, func(l float64) bool { return null.above(r.wins(l, r.base, r.headFloor)) <= alpha })
	r.hi = r.last(most, r.to, func(l float64) bool { return null.below(r.wins(l, r.baseFloor, r.head)) > alpha })
	e.Ratio, e.CI = math.Exp(estimate), Interval{math.Exp(r.lo), math.Exp(r.hi)}
	if ratio, ok := s.without(); ok {
		e.Ratio = ratio
	}
	r.alpha = alpha
	if !s.sampled {
		r.alpha = null.above(null.leastAbove(alpha))
	}
}

// A spot is where the cost of a run can be: anywhere within width around at, with the
// same probability.
type spot struct {
	at, width float64
	zero      bool
}

// ranked are the runs of both sides, sorted, in units of the largest.
type ranked struct {
	tests      *Tests
	base, head []spot // zeros are up to half a sample
	// The same with zeros that are nothing: what the ratio is proven to be above
	// must not rest on what may be in the zeros of head.
	baseFloor, headFloor []spot
	tied                 bool // counted, not sampled: equal values are tied

	widestBase, widestHead float64
	from, to               float64 // the logarithm of the ratio of any pair is well between
	grain                  float64 // the precision to which it is found

	lo, hi float64
	alpha  float64 // the one-sided p at which lo and hi are the ends of the interval
}

func newRanked(t *Tests, s sides) *ranked {
	r := &ranked{tests: t, tied: !s.sampled, grain: rounding}
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
	spots := func(runs []WeightedCount, half float64) []spot {
		x := make([]spot, len(runs))
		for i, c := range runs {
			switch {
			case c.Weight > 0:
				x[i] = spot{at: c.Weight / most, width: min(c.WeightSq/c.Weight, c.Weight) / most}
			default:
				x[i] = spot{at: half / 2 / most, width: half / most, zero: true}
			}
		}
		slices.SortFunc(x, func(a, b spot) int { return cmp.Compare(a.at, b.at) })
		return x
	}
	half := s.half
	if s.sampled && half > 0 {
		least = min(least, half)
	} else {
		half = 0
	}
	r.base, r.head = spots(s.base, half), spots(s.head, half)
	r.baseFloor, r.headFloor = r.base, r.head
	if half > 0 {
		r.baseFloor, r.headFloor = spots(s.base, 0), spots(s.head, 0)
	}
	for _, x := range r.base {
		r.widestBase = max(r.widestBase, x.width)
	}
	for _, y := range r.head {
		r.widestHead = max(r.widestHead, y.width)
	}
	r.to = min(math.Log(most)-math.Log(least)+7, 700)
	r.from = -r.to
	return r
}

// last is the largest logarithm of a ratio for which f holds, which holds up to it,
// between lo and hi. It is infinite if that is beyond any pair.
func (r *ranked) last(lo, hi float64, f func(float64) bool) float64 {
	return lastOf(lo, hi, r.from, r.to, r.grain, f)
}

func lastOf(lo, hi, from, to, grain float64, f func(float64) bool) float64 {
	lo, hi = min(max(lo-1e-6, from), to), max(min(hi+1e-6, to), from)
	switch {
	case !f(lo):
		return math.Inf(-1)
	case f(hi):
		return math.Inf(1)
	}
	for hi-lo > grain {
		if mid := (lo + hi) / 2; f(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// wins is the Mann-Whitney number of pairs in which head is larger than r times base, each
// counted with the probability that it is. limit is the logarithm of r.
func (r *ranked) wins(limit float64, base, head []spot) float64 {
	ratio := math.Exp(min(max(limit, r.from), r.to))
	reach := (r.widestHead+ratio*r.widestBase)/2 + rounding // how far apart spots can overlap
	won, from := 0.0, 0
	for _, x := range base {
		x.at *= ratio
		x.width *= ratio
		for from < len(head) && head[from].at < x.at-reach {
			from++
		}
		j := from
		for ; j < len(head) && head[j].at <= x.at+reach; j++ {
			won += larger(head[j], x)
		}
		won += float64(len(head) - j)
	}
	return won
}

// larger is the probability that y is larger than x. Two zeros are tied.
func larger(y, x spot) float64 {
	d, far := y.at-x.at, (y.width+x.width)/2
	switch {
	case y.zero && x.zero, math.Abs(d) <= rounding*max(y.at, x.at):
		return 0.5
	case d >= far:
		return 1
	case d <= -far:
		return 0
	}
	wide, narrow := max(y.width, x.width), min(y.width, x.width)
	switch {
	case math.Abs(d) <= (wide-narrow)/2:
		return 0.5 + d/wide
	case d > 0:
		return 1 - (far-d)/wide*((far-d)/narrow)/2
	default:
		return (far + d) / wide * ((far + d) / narrow) / 2
	}
}

func (r *ranked) above(limit float64) float64 {
	return r.null(limit).above(r.wins(limit, r.base, r.headFloor))
}

func (r *ranked) below(limit float64) float64 {
	return r.null(limit).below(r.wins(limit, r.baseFloor, r.head))
}

// null is the distribution of wins if the ratio with logarithm limit is true: that of
// ties if runs of both sides are tied. Ties within a side do not move the wins, and what
// was sampled is not tied, but near.
func (r *ranked) null(limit float64) *null {
	n, m := len(r.base), len(r.head)
	if !r.tied {
		return r.tests.null(n, m, 0)
	}
	ratio := math.Exp(min(max(limit, r.from), r.to))
	groups := make([]int, 0, n+m) // numbers of tied runs, ascending
	zeros, tied := 0, false
	for i, j := 0, 0; i < n || j < m; {
		// A group starts with the lowest run left.
		at := math.Inf(1)
		if i < n {
			at = ratio * r.base[i].at
		}
		if j < m {
			at = min(at, r.head[j].at)
		}
		end := at * (1 + rounding)
		a, b := i, j
		for a < n && ratio*r.base[a].at <= end {
			a++
		}
		for b < m && r.head[b].at <= end {
			b++
		}
		if a > i && b > j {
			if at == 0 {
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
		return newNull(n, m, groups)
	case tied:
		return newNormalNull(n, m, groups)
	}
	return r.tests.null(n, m, zeros)
}

func (r *ranked) detectable(alpha, power float64) float64 {
	s, n, m := r.spread(), len(r.base), len(r.head)
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
	se := width / distuv.UnitNormal.Quantile(1-r.alpha)
	return spread{sd: perRun(se, len(r.base), len(r.head)), known: true, ranks: true}
}
