package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Methods of measured values of which a run has several.
const (
	// PooledRuns compares the values of all runs together, and takes their uncertainty from how
	// the runs differ.
	PooledRuns Method = "pooled-runs"
	// PooledValues does so with one run a side: all values count as independent.
	PooledValues Method = "pooled-values"
)

// A Distribution are measured values of one side, of which each run has some. Values of one run
// are not independent: the uncertainty of all that is said of a distribution comes from how its
// runs differ.
//
//  1. At a value x, the share of the values up to x is that of all runs together, and its
//     variance that of the runs, each linearised about the share (Cochran, 1977, ratio estimate).
//  2. The effective number of values is that of independent ones which would give the variance,
//     at most the number that there is, and less the fewer runs show the variance: by the square
//     of the ratio of the quantiles of t with as many degrees of freedom as values and as runs
//     (Korn and Graubard, 1998).
//  3. The interval of a share is that of Clopper and Pearson, and the interval of a quantile is
//     between order statistics, both with that number of values (Woodruff, 1952).
//  4. The interval of a ratio of two sides is made of the intervals of both (Zou and Donner,
//     2008), each as long on its side of the estimate as it is. Where values are rounded, so that
//     an interval has only few of them, it reaches as far as both do.
type Distribution struct {
	sorted []float64   // of all runs
	runs   [][]float64 // each sorted
}

// NewDistribution is the distribution of values by run. Runs without values are none, and values
// that are not a finite number are of no distribution: they are left out.
func NewDistribution(runs [][]float64) *Distribution {
	d := &Distribution{}
	for _, values := range runs {
		r := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		if len(r) == 0 {
			continue
		}
		slices.Sort(r)
		d.runs = append(d.runs, r)
		d.sorted = append(d.sorted, r...)
	}
	slices.Sort(d.sorted)
	return d
}

// Len is the number of values, Runs the number of runs that have any.
func (d *Distribution) Len() int { return len(d.sorted) }

// Runs is the number of runs that have values.
func (d *Distribution) Runs() int { return len(d.runs) }

// Mean is the mean of all values, NaN without any.
func (d *Distribution) Mean() float64 {
	sum := 0.0
	for _, v := range d.sorted {
		sum += v
	}
	return sum / float64(len(d.sorted))
}

// Quantile is the q quantile of the values of all runs, see [Quantile].
func (d *Distribution) Quantile(q float64) float64 { return Quantile(d.sorted, q) }

// Quantile is the q quantile of sorted values, by linear interpolation between order statistics
// (Hyndman and Fan, 1996, type 7). It is NaN without values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	lo, hi := sorted[i], sorted[i+1]
	if lo == hi { // infinite ones, too
		return lo
	}
	return lo + (at-float64(i))*(hi-lo)
}

// Over is the share of the values that are more than a limit.
func (d *Distribution) Over(limit float64) float64 {
	return float64(len(d.sorted)-rank(d.sorted, limit, false)) / float64(len(d.sorted))
}

// upTo is the share of the values that are at most x, or less than x.
func (d *Distribution) upTo(x float64, less bool) float64 {
	return float64(rank(d.sorted, x, less)) / float64(len(d.sorted))
}

// rank is how many of sorted values are at most x, or less than x.
func rank(sorted []float64, x float64, less bool) int {
	return sort.Search(len(sorted), func(i int) bool {
		if less {
			return sorted[i] >= x
		}
		return sorted[i] > x
	})
}

// effectiveAt is the number of independent values that would tell the share of values up to x
// (or below x) as well as the runs do, without regard to how few these are. What the runs do not
// show is taken as independent.
func (d *Distribution) effectiveAt(x float64, less bool) float64 {
	n, runs := float64(len(d.sorted)), float64(len(d.runs))
	p := d.upTo(x, less)
	if runs < 2 || p <= 0 || p >= 1 {
		return n
	}
	squares := 0.0
	for _, r := range d.runs {
		z := float64(rank(r, x, less)) - p*float64(len(r))
		squares += z * z
	}
	if squares == 0 {
		return math.Inf(1)
	}
	// Of values that are each a run, this is their number.
	return p * (1 - p) * n * n / squares * n / (n - 1) * (runs - 1) / runs
}

// certain is how many independent values count at a confidence level, of so many effective ones.
func (d *Distribution) certain(effective, level float64) float64 {
	n, runs := float64(len(d.sorted)), float64(len(d.runs))
	if runs < 2 {
		return n
	}
	upper := 1 - (1-max(level, 1e-6))/2
	few := quantile(upper, max(n-1, 1)) / quantile(upper, runs-1)
	return min(n, effective*few*few)
}

// OverInterval is the interval of the share of values that are more than a limit.
func (d *Distribution) OverInterval(limit, level float64) Interval {
	if len(d.sorted) == 0 {
		return Interval{0, 1}
	}
	n := d.certain(d.effectiveAt(limit, false), level)
	return Proportion(d.Over(limit)*n, n, level)
}

// QuantileInterval is the interval of the q quantile. An end that the runs do not bound is
// infinite.
func (d *Distribution) QuantileInterval(q, level float64) Interval {
	return d.order(d.effectiveOf(q), q, level)
}

// effectiveOf is effectiveAt of the q quantile: of the two sides of the value there, whose ties
// may be many, that with less.
func (d *Distribution) effectiveOf(q float64) float64 {
	if len(d.sorted) == 0 {
		return 0
	}
	x := d.sorted[min(max(int(math.Ceil(q*float64(len(d.sorted))))-1, 0), len(d.sorted)-1)]
	return min(d.effectiveAt(x, false), d.effectiveAt(x, true))
}

// order is the interval of the q quantile by order statistics, as [QuantileInterval] has it of
// independent values. With fewer effective values than there are, ranks are scaled.
func (d *Distribution) order(effective, q, level float64) Interval {
	i := Interval{math.Inf(-1), math.Inf(1)}
	n := d.certain(effective, level)
	if !(n >= 1) || !(q > 0 && q < 1) {
		return i
	}
	alpha := (1 - level) / 2
	// Of n values the l-th is above the quantile, or the u-th is not, as rarely as alpha.
	above := func(l float64) bool { return 1-mathext.RegIncBeta(l, n-l+1, q) <= alpha }
	notAbove := func(u float64) bool { return mathext.RegIncBeta(u, n-u+1, q) <= alpha }
	size := len(d.sorted)
	scale := float64(size) / n
	// Where the ends are by the normal distribution.
	middle, reach := n*q, math.Sqrt2*math.Erfinv(level)*math.Sqrt(n*q*(1-q))
	if above(1) {
		l := last(0, int((middle-1)*scale), int((middle-reach-1)*scale), func(l int) bool { return above(1 + float64(l)/scale) })
		i.Lo = d.sorted[l]
	}
	if notAbove(n) {
		u := -last(-size, -int(math.Ceil(middle*scale)), -int(math.Ceil((middle+reach)*scale)), func(u int) bool { return notAbove(min(float64(-u)/scale, n)) })
		i.Hi = d.sorted[u-1]
	}
	return i
}

// last is the last number from lo, for which ok holds, to hi: numbers for which it holds stand before those for
// which it does not. It asks the less often the better the guess is.
func last(lo, hi, guess int, ok func(int) bool) int {
	at := max(lo, min(guess, hi))
	if at == lo || ok(at) {
		lo = at
		for step := 1; lo < hi; step *= 2 {
			next := min(lo+step, hi)
			if !ok(next) {
				hi = next - 1
				break
			}
			lo = next
		}
	} else {
		hi = at - 1
		for step := 1; lo < hi; step *= 2 {
			next := max(hi+1-step, lo)
			if next == lo || ok(next) {
				lo = next
				break
			}
			hi = next - 1
		}
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return !ok(lo + 1 + i) })
}

// own reports whether runs can be compared by quantiles of their own: if each has values enough to
// bound its quantile, and the more there are of runs. The quantile of few values is off, by a part
// that falls with their number, and more runs do not make that smaller.
func (d *Distribution) own(q float64) bool {
	least := QuantileEvents(q, ownLevel) * max(len(d.runs), ownRuns) / ownRuns
	return len(d.runs) > 1 && d.sorted[0] > 0 && !slices.ContainsFunc(d.runs, func(r []float64) bool { return len(r) < least })
}

// ownLevel is the level at which a run bounds a quantile of its own: whatever the level of the test,
// so that an estimate does not depend on it.
const ownLevel = 0.95

// ownRuns is the number of runs up to which so many values are enough.
const ownRuns = 8

// Quantile compares the q quantile of two sides. With two runs a side and as many values in each
// as [QuantileEvents] asks for, and with more than eight runs an eighth of that for each run, runs
// have quantiles of their own, and are compared by them as by [Tests.Ratio]. Else the quantiles are those of all values of a side,
// with the intervals of [Distribution.QuantileInterval].
//
// A quantile that is not positive has no ratio: then Ratio and CI are 1 and the difference in
// parts of base.
func (t *Tests) Quantile(base, head *Distribution, q float64) Estimate {
	e, ok := t.compared(base, head)
	if !ok {
		return e
	}
	if base.own(q) && head.own(q) {
		own := func(d *Distribution) (list []WeightedCount) {
			for _, r := range d.runs {
				list = append(list, WeightedCount{Weight: Quantile(r, q)})
			}
			return list
		}
		return t.Ratio(own(base), own(head))
	}
	side := func(d *Distribution) bounded {
		effective := d.effectiveOf(q)
		at := func(level float64) Interval { return d.order(effective, q, level) }
		return bounded{d.Quantile(q), at, d.coarse(at(t.level))}
	}
	return t.recover(e, side(base), side(head))
}

// fewSteps is the number of different values below which an interval has steps, not a width.
const fewSteps = 10

// coarse reports whether an interval has only few different values, as where they are rounded.
func (d *Distribution) coarse(i Interval) bool {
	at := rank(d.sorted, i.Lo, true)
	for range fewSteps {
		if at >= len(d.sorted) || d.sorted[at] > i.Hi {
			return len(d.sorted) > fewSteps
		}
		at = rank(d.sorted, d.sorted[at], false)
	}
	return false
}

// Over compares the shares of values that are more than a limit.
func (t *Tests) Over(base, head *Distribution, limit float64) Estimate {
	e, ok := t.compared(base, head)
	if !ok {
		return e
	}
	if base.Over(limit) == 0 && head.Over(limit) == 0 {
		e.Refused = "no value is over the limit"
		return e
	}
	side := func(d *Distribution) bounded { return bounded{d.Over(limit), d.shares(limit), false} }
	return t.recover(e, side(base), side(head))
}

// shares yields the interval of a share at any level.
func (d *Distribution) shares(limit float64) func(level float64) Interval {
	effective, share := d.effectiveAt(limit, false), d.Over(limit)
	return func(level float64) Interval {
		n := d.certain(effective, level)
		return Proportion(share*n, n, level)
	}
}

// Mean compares the means of all values by t on their logarithm, with the variance of the runs,
// each linearised about the mean. With one run a side its values count as independent.
func (t *Tests) Mean(base, head *Distribution) Estimate {
	e, ok := t.compared(base, head)
	if !ok {
		return e
	}
	b, h := base.meanMoments(), head.meanMoments()
	e.Ratio = h.mean / b.mean
	switch {
	case !(b.mean > 0) || !(h.mean > 0) || math.IsInf(b.mean, 1) || math.IsInf(h.mean, 1):
		e.Ratio, e.Refused = math.NaN(), "a mean is not positive"
		return e
	case base.sorted[0] == base.sorted[len(base.sorted)-1] && head.sorted[0] == head.sorted[len(head.sorted)-1] && b.n > 1 && h.n > 1:
		if e.CI = (Interval{e.Ratio, e.Ratio}); e.Method != PooledValues {
			e.Method = Exact
		}
		e.finish(point(math.Log(e.Ratio)))
		return e
	case b.n < 2 || h.n < 2:
		e.Refused = "one value a side shows no noise"
		return e
	}
	m := shift{log: math.Log(e.Ratio), n: int(b.n), m: int(h.n)}
	vb, vh := b.variance/b.n, h.variance/h.n
	m.se, m.df = math.Sqrt(vb+vh), freedom(vb, vh, b.n, h.n)
	e.CI = m.interval(t.level)
	e.finish(m)
	return e
}

// meanMoments are the mean of all values, and the variance of the logarithm of what one run has
// of it.
func (d *Distribution) meanMoments() moments {
	m := moments{n: float64(len(d.runs)), mean: d.Mean()}
	sums, sizes := make([]float64, 0, len(d.runs)), make([]float64, 0, len(d.runs))
	if len(d.runs) == 1 {
		m.n = float64(len(d.sorted))
		for _, v := range d.sorted {
			sums, sizes = append(sums, v), append(sizes, 1)
		}
	} else {
		for _, r := range d.runs {
			sum := 0.0
			for _, v := range r {
				sum += v
			}
			sums, sizes = append(sums, sum), append(sizes, float64(len(r)))
		}
	}
	total := m.mean * float64(len(d.sorted)) / m.n // of a run
	for i := range sums {
		z := (sums[i] - m.mean*sizes[i]) / total
		m.variance += z * z / max(m.n-1, 1)
	}
	return m
}

// compared is an estimate of two sides without what is measured, and whether both have values.
func (t *Tests) compared(base, head *Distribution) (Estimate, bool) {
	n, m := base.Runs(), head.Runs()
	e := Estimate{Method: PooledRuns, Ratio: math.NaN(), CI: everything(), P: 1, Capped: min(n, m) < LeastRuns, BaseRuns: n, HeadRuns: m}
	if min(n, m) == 1 {
		e.Method = PooledValues
	}
	if min(n, m) == 0 {
		e.Refused = "a side has no values"
		return e, false
	}
	return e, true
}

// QuantileLevel estimates the q quantile of one side, and OverLevel the share of its values over
// a limit, to be compared with a limit as by [Tests.Level].
func (t *Tests) QuantileLevel(d *Distribution, q float64) Estimate {
	effective := d.effectiveOf(q)
	return t.level1(d, d.Quantile(q), func(level float64) Interval { return d.order(effective, q, level) })
}

// OverLevel is described at [Tests.QuantileLevel].
func (t *Tests) OverLevel(d *Distribution, limit float64) Estimate {
	if d.Len() == 0 {
		return t.level1(d, math.NaN(), nil)
	}
	return t.level1(d, d.Over(limit), d.shares(limit))
}

// MeanLevel estimates the mean of all values of one side.
func (t *Tests) MeanLevel(d *Distribution) Estimate {
	e := t.level1(d, d.Mean(), nil)
	if e.Refused != "" {
		return e
	}
	m := d.meanMoments()
	switch {
	case !(m.mean > 0):
		e.Refused = "the mean is not positive"
	case m.n < 2:
		e.Refused = "one value shows no noise"
	default:
		l := level{shift{log: math.Log(m.mean), se: math.Sqrt(m.variance / m.n), df: m.n - 1}, int(m.n), false}
		e.CI = l.interval(t.level)
		e.finishLevel(l)
	}
	return e
}

// level1 is the estimate of a value with an interval at any level, nil if there is none yet.
func (t *Tests) level1(d *Distribution, value float64, at func(level float64) Interval) Estimate {
	e := Estimate{Method: PooledRuns, Ratio: value, CI: everything(), P: 1, Capped: d.Runs() < LeastRuns, HeadRuns: d.Runs()}
	if d.Runs() == 1 {
		e.Method = PooledValues
	}
	if d.Len() == 0 {
		e.Refused = "there are no values"
		return e
	}
	if at == nil {
		return e
	}
	r := recovered{at: func(l float64) Interval { return logOf(at(l)) }, n: d.Runs(), m: d.Runs()}
	e.CI = at(t.level)
	e.finishLevel(r)
	return e
}

// bounded is a value with its interval at any level.
type bounded struct {
	value float64
	at    func(level float64) Interval
	// coarse says that the interval has steps: then no end of the other side is less likely with
	// one of its ends than with its middle.
	coarse bool
}

// around is the interval with the value in it.
func (b bounded) around(level float64) Interval {
	i := b.at(level)
	return Interval{min(i.Lo, b.value), max(i.Hi, b.value)}
}

// recover makes an estimate of the ratio of two values from their intervals.
func (t *Tests) recover(e Estimate, base, head bounded) Estimate {
	e.Ratio = head.value / base.value
	r := recovered{n: e.BaseRuns, m: e.HeadRuns}
	difference := Difference
	if base.coarse || head.coarse {
		difference = farthest
	}
	switch {
	case base.value < 0 || head.value < 0 || base.value == 0 && head.value == 0 || base.at(t.level).Lo < 0 && !math.IsInf(base.at(t.level).Lo, -1):
		// Differences, in parts of base.
		unit := math.Abs(base.value)
		if unit == 0 {
			unit = max(math.Abs(head.value), 1)
		}
		e.Ratio = 1 + (head.value-base.value)/unit
		r.at = func(level float64) Interval {
			d := difference(base.value, head.value, base.around(level), head.around(level))
			return logOf(Interval{1 + d.Lo/unit, 1 + d.Hi/unit})
		}
	default:
		r.at = func(level float64) Interval {
			b, h := base.around(level), head.around(level)
			// Of nothing there is no logarithm: the middle of what may be there stands for it.
			return difference(math.Log(positive(base)), math.Log(positive(head)), logOf(b), logOf(h))
		}
	}
	i := r.at(t.level)
	e.CI = Interval{math.Exp(i.Lo), math.Exp(i.Hi)}
	e.finish(r)
	return e
}

// positive is a value, or the middle of what it may be if it is 0.
func positive(b bounded) float64 {
	if b.value > 0 {
		return b.value
	}
	return b.at(0).Hi
}

func logOf(i Interval) Interval {
	return Interval{math.Log(max(i.Lo, 0)), math.Log(max(i.Hi, 0))}
}

// Difference is the interval of h-b from those of both.
func Difference(b, h float64, base, head Interval) Interval {
	return Interval{
		h - b - math.Hypot(h-head.Lo, base.Hi-b),
		h - b + math.Hypot(head.Hi-h, b-base.Lo),
	}
}

// farthest is the interval of h-b whatever they are within their own.
func farthest(_, _ float64, base, head Interval) Interval {
	return Interval{head.Lo - base.Hi, head.Hi - base.Lo}
}

// recovered is the model of a value that has an interval at each level: a hypothesis has the p of
// the least level whose interval reaches it.
type recovered struct {
	at   func(level float64) Interval // of the logarithm
	n, m int                          // runs
}

func (r recovered) above(limit float64) float64 {
	return rarest(func(level float64) bool { return r.at(level).Lo > limit })
}

func (r recovered) below(limit float64) float64 {
	return rarest(func(level float64) bool { return r.at(level).Hi < limit })
}

// rarest is the least one-sided alpha at which an interval excludes something, 1 if none does.
func rarest(excluded func(level float64) bool) float64 {
	if !excluded(0) {
		return 1
	}
	lo, hi := math.Log(1e-12), math.Log(0.5) // excluded at hi
	for range 22 {
		if middle := (lo + hi) / 2; excluded(1 - 2*math.Exp(middle)) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return math.Exp(hi)
}

// asShift is about what t would be with such an interval.
func (r recovered) asShift() (shift, bool) {
	i := r.at(0.95)
	df := float64(max(r.n+r.m-2, 1))
	width := (i.Hi - i.Lo) / 2
	return shift{se: width / quantile(0.975, df), df: df, n: r.n, m: r.m}, width > 0 && !math.IsInf(width, 0) && !math.IsNaN(width)
}

func (r recovered) detectable(alpha, power float64) float64 {
	s, ok := r.asShift()
	if !ok {
		return math.Inf(1)
	}
	return s.detectable(alpha, power)
}

func (r recovered) spread() spread {
	s, ok := r.asShift()
	if !ok || min(r.n, r.m) < 2 {
		return spread{}
	}
	return s.spread()
}

// Inverse is the estimate of the inverse of what e estimates: of base over head, where e is of head
// over base. What has to be at least something has an inverse that is at most something.
func (e Estimate) Inverse() Estimate {
	e.Ratio, e.CI = 1/e.Ratio, Interval{1 / e.CI.Hi, 1 / e.CI.Lo}
	e.BaseRuns, e.HeadRuns = e.HeadRuns, e.BaseRuns
	if e.model != nil {
		e.model = inverse{e.model}
	}
	return e
}

type inverse struct{ model }

func (i inverse) above(limit float64) float64 { return i.model.below(-limit) }
func (i inverse) below(limit float64) float64 { return i.model.above(-limit) }

// Contrast compares how two quantiles changed: the ratio at q over that at reference. It tells a
// change of the tail from one of all values.
func (t *Tests) Contrast(base, head *Distribution, reference, q float64) Estimate {
	e, ok := t.compared(base, head)
	if !ok {
		return e
	}
	if base.own(q) && head.own(q) && base.own(reference) && head.own(reference) {
		own := func(d *Distribution) (list []WeightedCount) {
			for _, r := range d.runs {
				list = append(list, WeightedCount{Weight: Quantile(r, q) / Quantile(r, reference)})
			}
			return list
		}
		return t.Ratio(own(base), own(head))
	}
	at, of := t.Quantile(base, head, q), t.Quantile(base, head, reference)
	if !(at.Ratio > 0) || !(of.Ratio > 0) || at.Refused != "" || of.Refused != "" {
		e.Refused = "a quantile is not positive"
		return e
	}
	e.Ratio = at.Ratio / of.Ratio
	r := recovered{n: e.BaseRuns, m: e.HeadRuns, at: func(level float64) Interval {
		return Difference(math.Log(of.Ratio), math.Log(at.Ratio), of.logInterval(level), at.logInterval(level))
	}}
	i := r.at(t.level)
	e.CI = Interval{math.Exp(i.Lo), math.Exp(i.Hi)}
	e.finish(r)
	return e
}

// logInterval is the interval of the logarithm at a level.
func (e *Estimate) logInterval(level float64) Interval {
	if r, ok := e.model.(recovered); ok {
		return r.at(level)
	}
	alpha := (1 - level) / 2
	return logOf(Interval{e.AtLeast(alpha), e.AtMost(alpha)})
}
