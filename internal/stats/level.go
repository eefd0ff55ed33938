package stats

import (
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// Methods of [Tests.Level], which uses ranks from [RanksFrom] runs on.
const (
	StudentT   Method = "student-t"
	SignedRank Method = "signed-rank"
)

// Level estimates one quantity from the runs of one side: Ratio is its value, in the unit
// of the weights, and Above and Below compare it with a limit in that unit. The method
// follows from the number of runs and from ranks:
//
//	1        sampling noise alone, exact below 30 effective samples (Poisson)
//	2 and more   Student's t on logarithms
//	8 and more   with ranks, Wilcoxon's signed ranks (1945) of logarithms, estimate and
//	         interval of Hodges and Lehmann (1963)
//
// The least p of signed ranks is 2⁻ⁿ, so that the caller chooses by the number of tests.
// Zeros are taken as by [Tests.Ratio]: what stands in for them can show that a level is
// below a limit, not that it is above one, and is no part of the estimate.
func (t *Tests) Level(runs []WeightedCount, ranks bool) Estimate {
	n := len(runs)
	e := Estimate{Method: StudentT, Ratio: math.NaN(), CI: everything(), P: 1, Capped: n < LeastRuns, HeadRuns: n}
	if n == 0 {
		e.Refused = "there are no runs"
		return e
	}
	s, refused := newSides(nil, runs)
	if refused != "" {
		e.Refused = refused
		return e
	}
	switch {
	case s.constant1():
		v := runs[0].Weight
		e.Method, e.Ratio, e.CI = Exact, v, Interval{v, v}
		e.finishLevel(point(math.Log(v)))
	case n == 1:
		t.levelOfOne(&e, runs[0])
	case ranks && n >= rankRuns:
		t.signedRanks(&e, s)
	default:
		m := newMoments(s.head, s.half, s.sampled)
		l := level{shift{log: m.mean, se: math.Sqrt(m.variance / m.n), df: m.n - 1}, n, s.zeroHead > 0}
		e.Ratio, e.CI = s.withoutHalf(l.log), l.interval(t.level)
		if l.zeros {
			e.CI.Lo = 0
		}
		e.finishLevel(l)
	}
	return e
}

// RanksFrom is the number of runs from which ranks are used.
const RanksFrom = rankRuns

// finishLevel is finish without the hypothesis of no change, which a level has not.
func (e *Estimate) finishLevel(m model) { e.model, e.P = m, 1 }

// constant1 reports whether a single side was counted and has one value only. One run that
// was counted shows no noise: that is for the caller to say, see [Tests.Exact].
func (s *sides) constant1() bool {
	return len(s.head) > 1 && !s.sampled && !slices.ContainsFunc(s.head, func(c WeightedCount) bool {
		return math.Abs(c.Weight-s.head[0].Weight) > rounding*s.head[0].Weight
	})
}

// ExactLevel is the level of what was counted and is known.
func ExactLevel(value float64) Estimate {
	e := Estimate{Method: Exact, Ratio: value, CI: Interval{value, value}, P: 1, HeadRuns: 1}
	e.finishLevel(point(math.Log(value)))
	return e
}

// withoutHalf is the weight of which log is the logarithm after half was added.
func (s *sides) withoutHalf(log float64) float64 {
	w := math.Exp(log)
	if w <= s.half*(1+rounding) {
		return 0
	}
	return w - s.half
}

// A level is a mean of logarithms whose estimate varies as t does.
type level struct {
	shift
	runs  int
	zeros bool // something stands in for zeros, which shows nothing to be above a limit
}

func (l level) above(limit float64) float64 {
	if l.zeros {
		return 1
	}
	return l.shift.above(limit)
}

// spread is the spread of one run. The formulas for numbers of runs take the difference of
// two sides, which has twice the variance.
func (l level) spread() spread {
	return spread{sd: l.se * math.Sqrt(float64(l.runs)/2), known: l.runs > 1}
}

// levelOfOne says what sampling noise leaves open.
func (t *Tests) levelOfOne(e *Estimate, c WeightedCount) {
	e.Method, e.Ratio = Sampling, c.Weight
	if c.WeightSq == 0 {
		e.Refused = "one run without samples shows no noise"
		return
	}
	k := c.Effective()
	if k >= fewSamples {
		l := level{shift{log: math.Log(c.Weight), se: math.Sqrt(1 / k), df: math.Inf(1)}, 1, false}
		e.CI = l.interval(t.level)
		e.finishLevel(l)
		return
	}
	e.Method = SamplingExact
	p := poissonCount{k: k, unit: c.WeightSq / c.Weight}
	alpha := (1 - t.level) / 2
	e.CI = Interval{p.unit * gamma(k, alpha), p.unit * gamma(k+1, 1-alpha)}
	e.finishLevel(p)
}

// poissonCount is a number of samples that weigh unit each (Garwood, 1936).
type poissonCount struct{ k, unit float64 }

func (p poissonCount) above(limit float64) float64 {
	return mathext.GammaIncReg(p.k, math.Exp(limit)/p.unit)
}

func (p poissonCount) below(limit float64) float64 {
	return 1 - mathext.GammaIncReg(p.k+1, math.Exp(limit)/p.unit)
}

func (p poissonCount) detectable(alpha, power float64) float64 {
	return shift{se: math.Sqrt(1 / p.k), df: math.Inf(1)}.detectable(alpha, power)
}

func (poissonCount) spread() spread { return spread{} }

// signedRanks estimates by Wilcoxon's test of whether the logarithms lie symmetrically
// around a limit.
func (t *Tests) signedRanks(e *Estimate, s sides) {
	n := len(s.head)
	w := signed{x: logs(s.head, s.half), floor: logs(s.head, 0), n: n}
	slices.Sort(w.x)
	slices.Sort(w.floor)
	pairs := n * (n + 1) / 2
	log := walshAverage(w.x, pairs/2)
	if pairs%2 == 0 {
		log = (walshAverage(w.x, pairs/2-1) + log) / 2
	}
	// The k-th lowest and the k-th highest of the averages bound the interval. k-1 is the
	// largest sum of ranks that is as rare as alpha.
	alpha := (1 - t.level) / 2
	k := leastKept(n, alpha)
	e.Method, e.Ratio, e.CI = SignedRank, s.withoutHalf(log), everything()
	if k > 0 {
		w.lo, w.hi, w.alpha = walshAverage(w.x, k-1), walshAverage(w.x, pairs-k), w.atMost(float64(k-1))
		e.CI = Interval{math.Exp(walshAverage(w.floor, k-1)), math.Exp(w.hi)}
	}
	e.finishLevel(w)
}

// signed are the sorted logarithms of runs: x with half a sample added if there are zeros,
// floor without, where a zero is -Inf. lo and hi are the ends of the interval of x, at which
// the one-sided p is alpha; 0 if there is none.
type signed struct {
	x, floor      values
	n             int
	lo, hi, alpha float64
}

// values are logarithms whose ranks are exact. One that is not a number is on any limit, and a
// zero is on a limit of 0.
type values []float64

// sum is the sum of the ranks of the distances of values above limit; what is on it counts
// half, and equal distances share their ranks.
func (x values) sum(limit float64) float64 {
	type distance struct {
		d     float64
		above float64
	}
	list := make([]distance, len(x))
	for i, v := range x {
		d := distance{math.Abs(v - limit), 0}
		switch {
		case math.IsNaN(d.d): // v is no number, or both are -Inf
			d = distance{0, 0.5}
		case d.d <= rounding:
			d.above = 0.5
		case v > limit:
			d.above = 1
		}
		list[i] = d
	}
	slices.SortFunc(list, func(a, b distance) int {
		switch {
		case a.d < b.d:
			return -1
		case a.d > b.d:
			return 1
		}
		return 0
	})
	sum := 0.0
	for i := 0; i < len(x); {
		j := i
		above := 0.0
		for ; j < len(x) && list[j].d <= list[i].d+rounding; j++ {
			above += list[j].above
		}
		sum += above * float64(i+1+j) / 2
		i = j
	}
	return sum
}

func (w signed) above(limit float64) float64 {
	return w.atMost(float64(w.n*(w.n+1)/2) - w.floor.sum(limit))
}
func (w signed) below(limit float64) float64 { return w.atMost(w.x.sum(limit)) }

// exactRanks is the number of runs up to which the distribution of sums of ranks is
// counted; beyond it is [tail].
const exactRanks = 100

// atMost is the probability that the sum of the ranks above the true value is sum or less.
// Half ranks count as the next: never too small.
func (w signed) atMost(sum float64) float64 {
	return signedP(w.n, math.Ceil(sum))
}

// signedP is the probability that the sum of ranks of n values above the true one is sum
// or less. Between whole sums it is interpolated.
func signedP(n int, sum float64) float64 {
	// Sums are rounded; what is a whole number up to that is one.
	if whole := math.Round(sum); math.Abs(sum-whole) < 1e-9 {
		sum = whole
	}
	if sum < 0 {
		return 0
	}
	if n > exactRanks {
		n := float64(n)
		pairs := n * (n + 1) / 2
		variance := pairs * (2*n + 1) / 12
		// Each rank i is added with probability 1/2: the fourth cumulant is -Σi⁴/8.
		kurtosis := -pairs * (2*n + 1) * (3*n*n + 3*n - 1) / 15 / 8 / (variance * variance)
		return tail((pairs/2-sum-0.5)/math.Sqrt(variance), kurtosis)
	}
	table := signedTables()[n]
	i := int(sum)
	if i+1 >= len(table) {
		return 1
	}
	return table[i] + (sum-float64(i))*(table[i+1]-table[i])
}

// leastKept is the least sum of ranks of n values that is not as rare as alpha: a sum of that
// or less has a probability of more than alpha. It is at most half of the largest sum.
func leastKept(n int, alpha float64) int {
	return sort.Search(n*(n+1)/4, func(k int) bool { return signedP(n, float64(k)) > alpha })
}

// signedTables are the cumulative distributions of the sum of the ranks above by number of
// runs.
var signedTables = sync.OnceValue(func() [][]float64 {
	tables := make([][]float64, exactRanks+1)
	ways := []float64{1}
	total := 1.0
	for n := 1; n <= exactRanks; n++ {
		next := make([]float64, n*(n+1)/2+1)
		for i, v := range ways {
			next[i] += v
			next[i+n] += v
		}
		ways = next
		total *= 2
		cumulative := make([]float64, len(ways))
		sum := 0.0
		for i, v := range ways {
			sum += v
			cumulative[i] = sum / total
		}
		tables[n] = cumulative
	}
	return tables
})

func (w signed) detectable(alpha, power float64) float64 {
	s := w.spread()
	if !s.known || math.Ldexp(1, -w.n) > alpha/2 {
		return math.Inf(1)
	}
	return math.Expm1(s.sd * math.Sqrt(2/float64(w.n)) * shiftOf(power, math.Inf(1), alpha/2))
}

func (w signed) spread() spread {
	if !(w.alpha > 0) || !(w.hi > w.lo) {
		return spread{}
	}
	se := (w.hi - w.lo) / 2 / mathext.NormalQuantile(1-w.alpha)
	return spread{sd: se * math.Sqrt(float64(w.n)/2), known: true, ranks: true}
}
