package stats

import (
	"math"
	"slices"
)

// PairedT is a method of [Tests.Pairs], which uses [SignedRank] too.
const PairedT Method = "paired-t"

// Pairs compares runs that were recorded in pairs: run i of base and run i of head next to
// each other. What changes slowly, as a machine that gets warm, meets both runs of a pair
// and is not in the logarithm of their ratio, which is all that is tested:
//
//	pairs
//	1           as [Tests.Ratio]
//	2 to 7      Student's t (1908) on the logarithms of the ratios
//	8 and more  Wilcoxon's signed ranks (1945), shift and interval of Hodges and Lehmann
//	            (1963), where their least p, 2⁻ⁿ, is a quarter of alpha or less; else t
//
// alpha is the least one-sided level at which the estimate will be judged, as that of one
// member of a family. The method follows from it and from the number of pairs, never
// from the values.
//
// Zeros and few samples are taken as by Ratio. Only a limit of 1.5 or more, or of 1/1.5 or
// less, is neither proven to be exceeded nor excluded where runs have less than 20 effective
// samples: the mean logarithm of so few is off the logarithm of their mean, by more the
// fewer there are, and such a limit makes the sides differ in that. That the ratio
// is not 1 can be shown all the same, since the runs of a pair are exchangeable then.
func (t *Tests) Pairs(base, head []WeightedCount, alpha float64) Estimate {
	return t.pairs(base, head, alpha, true)
}

// TestPairs is Pairs without Ratio, CI and what follows from them, as [Tests.Test].
func (t *Tests) TestPairs(base, head []WeightedCount, alpha float64) Estimate {
	return t.pairs(base, head, alpha, false)
}

func (t *Tests) pairs(base, head []WeightedCount, alpha float64, intervals bool) Estimate {
	n := len(base)
	e := Estimate{
		Method: PairedT, Ratio: math.NaN(), CI: everything(), P: 1,
		Capped: n < LeastRuns, BaseRuns: n, HeadRuns: len(head),
	}
	ranks := n >= t.ranked && ranksReach(n, alpha)
	if ranks {
		e.Method = SignedRank
	}
	switch {
	case n != len(head):
		e.Refused = "pairs have one run of each side"
		return e
	case n <= 1:
		return t.ratio(base, head, intervals)
	}
	s, refused := newSides(base, head)
	switch {
	case refused != "":
		e.Refused = refused
	case s.constant():
		t.exact(&e, s)
	case ranks:
		t.pairedRanks(&e, s, intervals)
	default:
		t.pairedT(&e, s, intervals)
	}
	return e
}

// ranksReach reports whether signed ranks of n pairs can be as rare as a quarter of alpha.
func ranksReach(n int, alpha float64) bool { return math.Ldexp(1, -n) <= alpha/4 }

// pairedT takes the logarithms of the ratios of pairs as normal. Their variance has the
// floors of [Tests.welch], of both runs. From 8 pairs on they show by themselves how much they
// vary, and the noise of sampling is a floor only where runs hardly have any samples.
func (t *Tests) pairedT(e *Estimate, s sides, interval bool) {
	n := float64(len(s.base))
	base, head := logs(s.base, s.half), logs(s.head, s.half)
	mean, variance := 0.0, 0.0
	for i := range base {
		mean += (head[i] - base[i]) / n
	}
	for i := range base {
		d := head[i] - base[i] - mean
		variance += d * d / (n - 1)
	}
	if s.sampled {
		base, head := newFloor(s.base, s.half), newFloor(s.head, s.half)
		variance = max(variance, base.grain+head.grain)
		if len(s.base) < rankRuns || min(base.effective, head.effective) < 1 {
			variance = max(variance, base.variance()+head.variance())
		}
	}
	m := pairedShift{shift{log: mean, se: math.Sqrt(variance / n), df: n - 1, n: len(s.base), m: len(s.head)}}
	if interval {
		t.shiftInterval(e, s, m.shift)
	}
	e.finish(s.cautious(m))
}

// pairedShift is the shift of pairs.
type pairedShift struct{ shift }

func (s pairedShift) spread() spread {
	sp := s.shift.spread()
	sp.pairs = true
	return sp
}

const (
	// farLimit is the logarithm of a limit from which few samples bias the test of it, and
	// biasedSamples what is few.
	farLimit      = 0.4054651081081644 // ln 1.5
	biasedSamples = 20
)

// cautious is m without what few samples bias.
func (s *sides) cautious(m model) model {
	effective, runs := 0.0, 0.0
	for _, side := range [][]WeightedCount{s.base, s.head} {
		for _, c := range side {
			effective += c.Effective()
			runs++
		}
	}
	if s.sampled && effective < biasedSamples*runs {
		return nearLimits{m}
	}
	return m
}

// nearLimits is a model that says of a far limit what follows from the nearest that is not:
// what is below 1.49 is below 2, and nothing is shown to be above 2.
type nearLimits struct{ model }

const nearest = farLimit - 2*rounding

func (m nearLimits) above(limit float64) float64 {
	if limit > nearest {
		return 1
	}
	return m.model.above(max(limit, -nearest))
}

func (m nearLimits) below(limit float64) float64 {
	if limit < -nearest {
		return 1
	}
	return m.model.below(min(limit, nearest))
}

// pairedRanks compares by Wilcoxon's test of whether the logarithms of the ratios of pairs
// lie symmetrically around a limit. The limits that it does not reject are the interval, and
// the one that agrees best, the median of the means of all two pairs, is the estimate.
func (t *Tests) pairedRanks(e *Estimate, s sides, interval bool) {
	m := newSignedPairs(s)
	if interval {
		t.signedInterval(e, s, m)
	}
	e.finish(s.cautious(m))
}

func (t *Tests) signedInterval(e *Estimate, s sides, m *signedPairs) {
	half := float64(m.n*(m.n+1)) / 4
	alpha := (1 - t.level) / 2
	guess, step := m.middle(s)
	least := m.last(guess, step, func(l float64) (float64, bool) {
		sum := m.all.sum(l)
		return sum - half, sum > half
	})
	most := m.last(least+m.grain, m.grain, func(l float64) (float64, bool) {
		sum := m.all.sum(l)
		return sum - half, sum >= half
	})
	rare := valueAt(alpha, 0, half, func(sum float64) float64 { return signedP(m.n, sum) })
	// The test of normal data has an interval about so wide.
	width := step * quantile(1-alpha, math.Inf(1))
	m.lo = m.last(least-width, width/4, func(l float64) (float64, bool) {
		sum := 2*half - m.floorHead.sum(l) // of ranks below
		return rare - sum, signedP(m.n, sum) <= alpha
	})
	m.hi = m.last(most+width, width/4, func(l float64) (float64, bool) {
		sum := m.floorBase.sum(l)
		return sum - rare, signedP(m.n, sum) > alpha
	})
	m.alpha = alpha
	e.Ratio, e.CI = math.Exp((least+most)/2), Interval{math.Exp(m.lo), math.Exp(m.hi)}
	if ratio, ok := s.without(); ok {
		e.Ratio = ratio
	}
}

// A rankSum is the sum of the ranks of the pairs above a limit, expected where costs are
// known up to something only.
type rankSum interface{ sum(limit float64) float64 }

// signedPairs are the logarithms of the ratios of pairs.
type signedPairs struct {
	n int
	// floorHead has zeros of head that are nothing, floorBase zeros of base: what
	// is proven must not rest on what may be in them. In all they are up to half a sample.
	all, floorHead, floorBase rankSum

	search // for the logarithm of a ratio

	lo, hi float64
	alpha  float64 // the one-sided p at which lo and hi are the ends of the interval
}

func newSignedPairs(s sides) *signedPairs {
	m := &signedPairs{n: len(s.base), search: search{grain: rounding}}
	if s.sampled {
		m.grain = 1e-9
		all := newBlurred(s, false, false)
		m.all, m.floorHead, m.floorBase = all, all, all
		if s.zeroHead > 0 {
			m.floorHead = newBlurred(s, false, true)
		}
		if s.zeroBase > 0 {
			m.floorBase = newBlurred(s, true, false)
		}
		m.from, m.to = all.span()
	} else {
		x := make(values, m.n)
		m.from, m.to = math.Inf(1), math.Inf(-1)
		for i := range x {
			x[i] = math.Log(s.head[i].Weight) - math.Log(s.base[i].Weight)
			if !math.IsInf(x[i], 0) && !math.IsNaN(x[i]) {
				m.from, m.to = min(m.from, x[i]), max(m.to, x[i])
			}
		}
		if m.from > m.to { // one side is zero in each pair
			m.from, m.to = 0, 0
		}
		m.all, m.floorHead, m.floorBase = x, x, x
	}
	m.from, m.to = m.from-1, m.to+1
	return m
}

// middle guesses the logarithm of the ratio, and its standard error, from the pairs without
// zeros.
func (m *signedPairs) middle(s sides) (guess, error float64) {
	x := make([]float64, 0, m.n)
	for i := range s.base {
		if b, h := s.base[i].Weight, s.head[i].Weight; b > 0 && h > 0 {
			x = append(x, math.Log(h)-math.Log(b))
		}
	}
	if len(x) == 0 {
		return 0, 1
	}
	middle := Median(x)
	n := len(x)
	return middle, max((x[n*3/4]-x[n/4])/1.35/math.Sqrt(float64(n)), 4*m.grain)
}

func (m *signedPairs) above(limit float64) float64 {
	return signedP(m.n, float64(m.n*(m.n+1))/2-m.floorHead.sum(limit))
}

func (m *signedPairs) below(limit float64) float64 { return signedP(m.n, m.floorBase.sum(limit)) }

func (m *signedPairs) detectable(alpha, power float64) float64 {
	s := m.spread()
	if !s.known || math.Ldexp(1, -m.n) > alpha/2 {
		return math.Inf(1)
	}
	se := s.sd * math.Sqrt(2/float64(m.n))
	return math.Expm1(se * shiftOf(power, float64(m.n-1), alpha/2))
}

// spread is the spread that normal data would have if it gave so wide an interval.
func (m *signedPairs) spread() spread {
	width := (m.hi - m.lo) / 2
	if math.IsInf(width, 0) || math.IsNaN(width) || m.alpha <= 0 {
		return spread{}
	}
	se := width / quantile(1-m.alpha, float64(m.n-1))
	return spread{sd: perRun(se, m.n, m.n), known: true, ranks: true, pairs: true}
}

// blurred are ratios of pairs of sampled runs, each of which cost anything within half a
// sample of what was seen, with the same probability, as in [ranked]. The sum of ranks is
// its expectation: the number of means of two pairs, each with itself included, that
// are above the limit, each counted with the probability that it is (Tukey, 1949).
//
// The logarithm of each ratio is spread evenly over the parts between its quartiles. The
// expectation is then the integral of a step function times a broken line, which takes one
// pass over the sorted edges of all parts (O(n)).
type blurred struct {
	ratios []blur
	all    float64 // number of pairs that have a ratio
	// tied is the number of pairs without weight in both runs, which say nothing: each is
	// on the limit, whatever that is. high is the number of pairs above any limit.
	tied, high int

	edges  []float64 // of all ratios, sorted
	counts []float64 // how many ratios are expected to be below each edge
	slopes []float64 // by how much counts grows from each edge to the next
}

// A blur is a ratio by its quartiles, and how many pairs have it.
type blur struct {
	quartiles [parts + 1]float64
	pairs     float64
}

// parts is the number of parts of a ratio that are equally probable.
const parts = 4

// narrowest is the least width of a part: what is less far apart is tied.
const narrowest = 1e-9

// newBlurred has zeros up to half a sample, or nothing on the sides where floor is set.
func newBlurred(s sides, floorBase, floorHead bool) *blurred {
	b := &blurred{}
	known := make(map[[2]WeightedCount]int) // index in ratios
	for i := range s.base {
		x, y := s.base[i], s.head[i]
		switch {
		case x.Weight == 0 && y.Weight == 0:
			b.tied++
			continue
		case x.Weight == 0 && floorBase:
			b.high++
			continue
		case y.Weight == 0 && floorHead:
			continue // below any limit
		}
		b.all++
		k, ok := known[[2]WeightedCount{x, y}]
		if !ok {
			k = len(b.ratios)
			known[[2]WeightedCount{x, y}] = k
			b.ratios = append(b.ratios, blur{quartiles: s.quartiles(x, y)})
		}
		b.ratios[k].pairs++
	}
	type edge struct{ at, slope, opens float64 }
	edges := make([]edge, 0, (parts+1)*len(b.ratios))
	for i := range b.ratios {
		q, pairs := &b.ratios[i].quartiles, b.ratios[i].pairs
		last := 0.0
		for k := range parts {
			q[k+1] = max(q[k+1], q[k]+narrowest)
			slope := pairs / (parts * (q[k+1] - q[k]))
			edges = append(edges, edge{at: q[k], slope: slope - last})
			last = slope
		}
		edges[len(edges)-parts].opens = pairs
		edges = append(edges, edge{q[parts], -last, -pairs})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	count, slope, open := 0.0, 0.0, 0.0
	for i, e := range edges {
		if i > 0 {
			count += slope * (e.at - edges[i-1].at)
		}
		open += e.opens
		if slope += e.slope; open == 0 {
			slope = 0 // without what was rounded
		}
		if i == 0 || e.at > edges[i-1].at {
			b.edges, b.counts, b.slopes = append(b.edges, e.at), append(b.counts, count), append(b.slopes, 0)
		}
		b.slopes[len(b.slopes)-1] = slope
	}
	return b
}

// quartiles are where the logarithm of head over base can be, which are not both zero.
func (s *sides) quartiles(base, head WeightedCount) [parts + 1]float64 {
	switch {
	case base.Weight == 0:
		q := atMostHalf(s.half, head)
		slices.Reverse(q[:])
		for k := range q {
			q[k] = -q[k]
		}
		return q
	case head.Weight == 0:
		return atMostHalf(s.half, base)
	}
	return withinHalf(base, head)
}

// withinHalf are the quartiles of the logarithm of head over base, each within half a
// sample of what was seen: those of the sum of two numbers that are evenly spread.
func withinHalf(base, head WeightedCount) (q [parts + 1]float64) {
	// half of the width of the logarithm
	width := func(c WeightedCount) float64 {
		w := min(c.WeightSq/c.Weight, c.Weight) / c.Weight / 2
		return math.Log((1+w)/(1-w)) / 2
	}
	a, c := width(base), width(head)
	wide, narrow := max(a, c), min(a, c)
	at := math.Log(head.Weight) - math.Log(base.Weight)
	for k := range q {
		from := 0.0 // the middle, to the left
		switch p := float64(min(k, parts-k)) / parts; {
		case wide == 0:
		case p*2*wide <= narrow:
			from = wide + narrow - math.Sqrt(8*wide*narrow*p)
		default:
			from = 2 * wide * (0.5 - p)
		}
		if k <= parts/2 {
			from = -from
		}
		q[k] = at + from
	}
	return q
}

// atMostHalf are the quartiles of the logarithm of what is up to half over c.
func atMostHalf(half float64, c WeightedCount) (q [parts + 1]float64) {
	at := math.Log(half) - math.Log(c.Weight)
	for k := range q {
		// It is not bounded below.
		q[k] = at + math.Log(max(float64(k)/parts, 1.0/(4*parts)))
	}
	return q
}

// span is where the ratios are.
func (b *blurred) span() (from, to float64) {
	if len(b.edges) == 0 {
		return 0, 0
	}
	return b.edges[0], b.edges[len(b.edges)-1]
}

func (b *blurred) sum(limit float64) float64 {
	both := b.meansAbove(limit)
	single, itself := 0.0, 0.0
	for i := range b.ratios {
		r := &b.ratios[i]
		single += r.pairs * (1 - share(&r.quartiles, limit))
		itself += r.pairs * above(&r.quartiles, limit)
	}
	tied, high := float64(b.tied), float64(b.high)
	return (both-itself)/2 + single + // of ratios
		tied*single + tied*(tied+1)/4 + // of what is on the limit, with a ratio or another
		high*(b.all+tied) + high*(high+1)/2
}

// share is the probability that a ratio is below limit.
func share(q *[parts + 1]float64, limit float64) float64 {
	for k := 1; k <= parts; k++ {
		if limit < q[k] {
			return (float64(k-1) + max(0, limit-q[k-1])/(q[k]-q[k-1])) / parts
		}
	}
	return 1
}

// above is the probability that the mean of two independent values of a ratio is above limit.
func above(q *[parts + 1]float64, limit float64) float64 {
	switch {
	case limit <= q[0]:
		return 1
	case limit >= q[parts]:
		return 0
	}
	sum := 0.0
	for i := range parts {
		for j := range parts {
			y := spot{at: (q[i] + q[i+1]) / 2, width: q[i+1] - q[i]}
			x := spot{at: 2*limit - (q[j]+q[j+1])/2, width: q[j+1] - q[j]}
			sum += larger(&y, &x)
		}
	}
	return sum / (parts * parts)
}

// meansAbove is the number of pairs of ratios, in both orders and each with another draw of
// itself, that is expected to have a mean above limit.
func (b *blurred) meansAbove(limit float64) float64 {
	n := len(b.edges)
	if n == 0 {
		return 0
	}
	// Of two values with such a mean the larger is above limit, and the smaller between the larger
	// and what would make the mean equal limit. The larger goes up through the edges while
	// that goes down.
	sum := 0.0
	j := n // edges[j:] are above the other
	below := func(at float64) float64 {
		for j > 0 && b.edges[j-1] > at {
			j--
		}
		switch j {
		case 0:
			return 0
		case n:
			return b.all
		}
		return b.counts[j-1] + b.slopes[j-1]*(at-b.edges[j-1])
	}
	at := max(limit, b.edges[0])
	first, _ := slices.BinarySearch(b.edges, at)
	other := below(2*limit - at)
	under := 0.0 // of limit
	if limit > b.edges[0] {
		under = other
	}
	for i := max(first, 1); i < n; i++ {
		density := b.slopes[i-1]
		for at < b.edges[i] {
			// To the next edge of either.
			next := b.edges[i]
			if j > 0 {
				next = min(next, 2*limit-b.edges[j-1])
			}
			if next <= at {
				j--
				continue
			}
			left := other
			other = below(2*limit - next)
			sum += density * (next - at) * (left + other) / 2
			at = next
		}
	}
	return b.all*b.all - under*under - 2*sum
}
