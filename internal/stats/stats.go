// Package stats holds tests and intervals for few runs of many functions.
//
// [Tests.Ratio] compares the runs of two sides. The method follows from the numbers
// of runs only, never from the values:
//
//	runs of the smaller side
//	1 (and 1)        sampling noise alone: Σw² of Kish (1965), exact below 30 effective samples
//	1 (and several)  prediction interval of one more run of the larger side
//	2 to 7           Welch's t (1947) on logarithms
//	8 and more       Mann-Whitney (1947), shift and interval of Hodges and Lehmann (1963)
//
// [Tests.Pairs] compares runs that were recorded in pairs: by t on the logarithms of their
// ratios, and from 8 pairs on by signed ranks, where these can reach the level.
//
// A [Distribution] is for measured values of which a run has several: [Tests.Mean],
// [Tests.Quantile], [Tests.Over] and [Tests.Contrast] compare two, with intervals over runs.
//
// [Tests.Clusters] compares surveys of many devices, each side the mean of clusters in strata.
//
// Below 4 runs no method can tell a change of the program from a change of the
// machine reliably; [Estimate.Capped] says so. How often each method errs is measured by
// simulation in acceptance_test.go, with the results in acceptance.md.
//
// A comparison takes these steps:
//
//  1. The method is chosen as above, and gives a ratio, an interval and a p-value.
//  2. [Holm] and [BenjaminiHochberg] correct p-values for their number.
//  3. Where runs are looked at while they are recorded, [Sequence] decides by levels that
//     keep all looks together from erring more often than one ([Boundaries]).
//  4. [Estimate.SmallestDetectable] and [Estimate.RunsNeeded] say what such data could have
//     shown, and how many runs would.
//
// # Samples and zeros
//
// A function absent from a run is a zero, which has no logarithm. Of sampled data it means
// less than about one sample. Welch adds half the weight of a sample to every run when
// any is zero. For the rank test a run costs anything within half a sample of what was
// seen, with the same probability, and a zero up to half a sample: without this a limit of 5 %
// would tell 1 sample from 1.05 times 1 sample. What is proven of zeros never rests on what may be
// in them: a function that is new has at least some ratio and one that is gone at most
// some.
//
// A zero of data that was counted and not sampled (Σw² = 0) is a true zero. It is lower
// than any other value for the rank test; Welch adds half the smallest value.
package stats

import (
	"math"
	"sync"
)

// An Interval is a confidence interval of a ratio. Hi may be +Inf.
type Interval struct{ Lo, Hi float64 }

// Contains reports whether x is in the interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// everything is the interval of a ratio of which nothing is known.
func everything() Interval { return Interval{0, math.Inf(1)} }

// A WeightedCount is the sum of the weighted samples of one run. Normalising a run by
// f multiplies Weight by f and WeightSq by f².
type WeightedCount struct {
	Weight   float64 // Σw
	WeightSq float64 // Σw²; 0 if the weight was counted and not sampled
	// Complete is set if everything was recorded that there was, each time that a thread left the
	// CPU, say. Then the sum of a run is known, but for whole samples, and only runs vary:
	// two runs or more of a side show how much, and few samples make it no less certain.
	Complete bool
}

// Effective is Kish's effective sample size (Σw)²/Σw².
func (c WeightedCount) Effective() float64 {
	if c.WeightSq <= 0 || c.Weight <= 0 {
		return 0
	}
	return c.Weight / (c.WeightSq / c.Weight)
}

// inflate is c with the sampling variance multiplied by phi of [BlockSumsPhi].
func (c WeightedCount) inflate(phi float64) WeightedCount {
	c.WeightSq *= phi
	return c
}

// valid reports whether c can be a sum of weights: not negative, finite, and within what
// recordings and normalising them give, so that no formula here overflows. The effective
// samples are 1 or more, and less only by BlockSumsPhi.
func (c WeightedCount) valid() bool {
	if c.Weight == 0 && c.WeightSq == 0 {
		return true
	}
	e := c.Effective()
	return c.Weight >= 1e-30 && c.Weight <= 1e30 && (c.WeightSq == 0 || e >= 1e-6 && e <= 1e18)
}

// A Method is a way to compare runs.
type Method string

// The methods.
const (
	Sampling      Method = "sampling"       // one run a side, normal on the logarithm
	SamplingExact Method = "sampling-exact" // one run a side, binomial given the total
	Prediction    Method = "prediction"     // one run against several
	Welch         Method = "welch"
	MannWhitney   Method = "mann-whitney"
	Exact         Method = "exact" // counted, not sampled, and without any variance
)

// Single reports whether there is one run a side, sampled or of values, of which only the noise of
// sampling is known.
func (m Method) Single() bool { return m == Sampling || m == SamplingExact || m == PooledValues }

// Unit is what is repeated on each side: a run, or of a survey a device.
func (m Method) Unit() string {
	if m == Clusters {
		return "device"
	}
	return "run"
}

// Most is the largest number of these that [Estimate.RunsNeeded] tells: so many or more.
func (m Method) Most() int {
	if m == Clusters {
		return MaxClusters
	}
	return MaxRuns
}

// LeastRuns is the number of runs a side below which a verdict is capped: no test tells a
// change of the program from one of the machine then.
const LeastRuns = 4

const (
	// rankRuns is the number of runs from which ranks are used: below it they
	// cannot reach a level that is corrected for many budgets.
	rankRuns = 8
	// fewSamples is the effective sample size below which sums of samples are not
	// normal enough.
	fewSamples = 30
	// rounding is the difference of logarithms that counts as none: normalising
	// equal values leaves such differences.
	rounding = 1e-12
)

// An Estimate is what the runs of two sides say of the ratio head/base of one
// quantity.
type Estimate struct {
	Method Method
	// Ratio is the point estimate: of weights, of geometric means, or the
	// Hodges-Lehmann median of the ratios of all pairs. It is +Inf without base, 0
	// without head, NaN without both.
	Ratio float64
	CI    Interval // at the level of the Tests
	P     float64  // two-sided p of "the ratio is 1"
	// Capped says that the design cannot show a cause, with fewer than 4 runs on a
	// side: a verdict may warn, never fail.
	Capped             bool
	BaseRuns, HeadRuns int
	// Samples are the effective ones of both sides together, if one run a side was sampled.
	Samples float64
	// Refused says why nothing can be said of the ratio. Then CI is everything and
	// all p are 1.
	Refused string

	model model // nil if Refused
}

// A model is a method with its data. All arguments are logarithms of ratios.
type model interface {
	above(limit float64) float64 // one-sided p of "the ratio is at most limit"
	below(limit float64) float64 // one-sided p of "the ratio is at least limit"
	detectable(alpha, power float64) float64
	spread() spread
}

// Above is the one-sided p of the hypothesis that the true ratio is at most ratio:
// small means proven above.
func (e *Estimate) Above(ratio float64) float64 {
	if e.model == nil || !(ratio >= 0) || math.IsInf(ratio, 1) {
		return 1
	}
	return min(1, e.model.above(math.Log(ratio)))
}

// Below is the one-sided p of the hypothesis that the true ratio is at least ratio:
// small means proven below.
func (e *Estimate) Below(ratio float64) float64 {
	if e.model == nil || !(ratio > 0) {
		return 1
	}
	return min(1, e.model.below(math.Log(ratio)))
}

// Tests compares runs at one confidence level. It keeps the distributions of the rank
// test, which depend on the numbers of runs only, and is safe for concurrent use.
type Tests struct {
	level  float64
	ranked int // runs of the smaller side from which ranks are used

	mu    sync.Mutex
	nulls map[nullKey]*null
}

// New returns Tests whose intervals have the given confidence level, 0 to 1.
func New(level float64) *Tests {
	return &Tests{level: level, ranked: rankRuns, nulls: make(map[nullKey]*null)}
}

// NewRanked returns Tests that use ranks from the given number of runs of the smaller side
// on, at least 4, instead of 8.
func NewRanked(level float64, runs int) *Tests {
	t := New(level)
	t.ranked = max(runs, LeastRuns)
	return t
}

// Ratio is [Tests.Ratio] for a single comparison.
func Ratio(base, head []WeightedCount, level float64) Estimate {
	return New(level).Ratio(base, head)
}

// Ratio compares the runs of two sides. Weights that are negative, infinite or NaN,
// and quantities that are zero in all runs, are refused.
func (t *Tests) Ratio(base, head []WeightedCount) Estimate { return t.ratio(base, head, true) }

// Test is [Tests.Ratio] without Ratio, CI and what follows from them, at a small part of
// the cost: P, Above and Below are the same.
func (t *Tests) Test(base, head []WeightedCount) Estimate { return t.ratio(base, head, false) }

func (t *Tests) ratio(base, head []WeightedCount, intervals bool) Estimate {
	n, m := len(base), len(head)
	few := min(n, m)
	e := Estimate{
		Method: Welch, Ratio: math.NaN(), CI: everything(), P: 1,
		Capped: few < LeastRuns, BaseRuns: n, HeadRuns: m,
	}
	switch {
	case few >= t.ranked:
		e.Method = MannWhitney
	case few <= 1 && max(n, m) > 1:
		e.Method = Prediction
	case few <= 1:
		e.Method = Sampling
	}
	if few == 0 {
		e.Refused = "a side has no runs"
		return e
	}
	s, refused := newSides(base, head)
	if refused != "" {
		e.Refused = refused
		return e
	}
	switch {
	case s.sampled && n == 1 && m == 1:
		t.sampling(&e, base[0], head[0])
	case n == 1 && m == 1:
		e.Ratio = head[0].Weight / base[0].Weight
		e.Refused = "one run a side without samples shows no noise"
	case s.constant():
		t.exact(&e, s)
	case few >= t.ranked:
		t.ranks(&e, s, intervals)
	default:
		t.welch(&e, s, intervals)
	}
	return e
}

// finish sets what follows from the model of e, whose Ratio and CI are set.
func (e *Estimate) finish(m model) {
	e.model = m
	e.P = min(1, 2*min(m.above(0), m.below(0)))
}

// sides are the valid runs of both sides with what stands in for zeros.
type sides struct {
	base, head         []WeightedCount
	zeroBase, zeroHead int  // numbers of runs without weight
	sampled            bool // Σw² of some run is not 0
	// half is half of the weight of a sample, as the median over the runs with
	// samples; without samples half the smallest weight. It is 0 if no run is zero.
	half float64
}

func newSides(base, head []WeightedCount) (s sides, refused string) {
	s = sides{base: base, head: head}
	count := func(runs []WeightedCount) (zeros int, ok bool) {
		for _, c := range runs {
			if !c.valid() {
				return 0, false
			}
			if c.Weight == 0 {
				zeros++
			}
			s.sampled = s.sampled || c.WeightSq > 0
		}
		return zeros, true
	}
	var okBase, okHead bool
	s.zeroBase, okBase = count(base)
	s.zeroHead, okHead = count(head)
	switch {
	case !okBase || !okHead:
		return s, "a weight is negative, out of range or not a number"
	case s.zeroBase == len(base) && s.zeroHead == len(head):
		return s, "no weight in any run"
	case s.zeroBase+s.zeroHead > 0:
		s.half = halfSample(base, head, s.sampled)
	}
	return s, ""
}

// constant reports whether the sides are counted, not sampled, and each side has one
// value only, up to rounding.
func (s *sides) constant() bool {
	if s.sampled {
		return false
	}
	same := func(runs []WeightedCount) bool {
		lo, hi := runs[0].Weight, runs[0].Weight
		for _, c := range runs {
			lo, hi = min(lo, c.Weight), max(hi, c.Weight)
		}
		return hi-lo <= rounding*hi
	}
	return same(s.base) && same(s.head)
}

// without is the ratio of sides of which one has no weight in any run.
func (s *sides) without() (ratio float64, ok bool) {
	switch {
	case s.zeroBase == len(s.base):
		return math.Inf(1), true
	case s.zeroHead == len(s.head):
		return 0, true
	}
	return 0, false
}

// A point is the model of a ratio that is known: nothing varies.
type point float64

// Exact compares what was counted and is the same in every run: the ratio is known.
func (t *Tests) Exact(base, head WeightedCount) Estimate {
	e := Estimate{Method: Exact, Ratio: math.NaN(), CI: everything(), P: 1, BaseRuns: 1, HeadRuns: 1}
	s, refused := newSides([]WeightedCount{base}, []WeightedCount{head})
	if refused != "" {
		e.Refused = refused
		return e
	}
	t.exact(&e, s)
	return e
}

func (t *Tests) exact(e *Estimate, s sides) {
	r := s.head[0].Weight / s.base[0].Weight
	e.Method, e.Ratio, e.CI = Exact, r, Interval{r, r}
	e.finish(point(math.Log(r)))
}

func (p point) above(limit float64) float64 {
	if float64(p) > limit+rounding {
		return 0
	}
	return 1
}

func (p point) below(limit float64) float64 {
	if float64(p) < limit-rounding {
		return 0
	}
	return 1
}

func (p point) detectable(_, _ float64) float64 { return 0 }

func (p point) spread() spread { return spread{known: true} }
