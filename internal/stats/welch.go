package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// welch compares the means of logarithms: Welch's t with two runs or more a side, and
// with one run a prediction interval around the runs of the other side.
//
// Runs with few samples can agree by chance. Where a side has less than 30 effective
// samples a run, its variance is taken to be no less than sampling noise; in any
// case the variance is no less than what rounding to whole samples makes.
func (t *Tests) welch(e *Estimate, s sides, interval bool) {
	base, head := newMoments(s.base, s.half, s.sampled), newMoments(s.head, s.half, s.sampled)
	m := shift{log: head.mean - base.mean, n: len(s.base), m: len(s.head)}
	switch {
	case base.n == 1:
		m.se, m.df = predict(base, head)
	case head.n == 1:
		m.se, m.df = predict(head, base)
	default:
		va, vb := base.variance/base.n, head.variance/head.n
		m.se = math.Sqrt(va + vb)
		m.df = freedom(va, vb, base.n, head.n)
	}
	if interval {
		t.shiftInterval(e, s, m)
	}
	e.finish(m)
}

// LogRatio is the mean logarithm of head over base, its variance and the degrees of freedom of
// that. It takes two runs a side; there are no degrees of freedom where it cannot be told.
// The variance is what the runs show, without any floor, so that it is right on average.
func LogRatio(base, head []WeightedCount) (log, variance, degrees float64) {
	s, refused := newSides(base, head)
	if refused != "" || min(len(base), len(head)) < 2 {
		return math.NaN(), math.NaN(), 0
	}
	b, h := newMoments(s.base, s.half, false), newMoments(s.head, s.half, false)
	vb, vh := b.variance/b.n, h.variance/h.n
	return h.mean - b.mean, vb + vh, freedom(vb, vh, b.n, h.n)
}

func (t *Tests) shiftInterval(e *Estimate, s sides, m shift) {
	e.Ratio, e.CI = math.Exp(m.log), m.interval(t.level)
	if r, ok := s.without(); ok {
		// What stands in for zeros bounds the ratio on one side only.
		e.Ratio = r
		if r == 0 {
			e.CI.Lo = 0
		} else {
			e.CI.Hi = r
		}
	}
}

// freedom are the degrees of freedom of the difference of two means with variances va
// and vb, by Welch and Satterthwaite. If one side has more than twice the runs of the other
// these are too many, by a factor of two in the error at .005: then the parts of the variance
// count and not their squares, and below 4 runs only the side with fewer does.
func freedom(va, vb, n, m float64) float64 {
	if va+vb == 0 {
		return n + m - 2
	}
	a, b := va/(va+vb), vb/(va+vb)
	switch few := min(n, m); {
	case max(n, m) <= 2*few:
		return 1 / (a*a/(n-1) + b*b/(m-1))
	case few < LeastRuns:
		return few - 1
	default:
		return 1 / (a/(n-1) + b/(m-1))
	}
}

// predict is the error of the difference between one run and the mean of several.
func predict(one, several moments) (se, df float64) {
	return math.Sqrt(several.variance/several.n + max(several.variance, one.variance)), several.n - 1
}

// moments are the mean and the variance of the logarithms of the runs of one side.
type moments struct {
	n, mean  float64
	variance float64 // between runs, with its floor; of one run sampling noise
}

func newMoments(runs []WeightedCount, half float64, sampled bool) moments {
	x := logs(runs, half)
	m := moments{n: float64(len(x))}
	for _, v := range x {
		m.mean += v / m.n
	}
	if len(x) > 1 {
		for _, v := range x {
			m.variance += (v - m.mean) * (v - m.mean) / (m.n - 1)
		}
	}
	if sampled {
		f := newFloor(runs, half)
		m.variance = max(m.variance, f.variance())
		if len(x) == 1 {
			m.variance = max(m.variance, f.noise)
		}
	}
	return m
}

// A floor is the least that the logarithms of the runs of one side vary: means over runs.
type floor struct {
	effective float64 // samples
	noise     float64 // variance by sampling
	grain     float64 // variance by rounding to whole samples
	complete  bool    // nothing was sampled
}

func newFloor(runs []WeightedCount, half float64) (f floor) {
	n := float64(len(runs))
	f.complete = true
	for _, c := range runs {
		f.complete = f.complete && c.Complete
		// With half a sample added, a run without any has half an effective sample.
		w := c.Weight + half
		v := c.WeightSq/w/w + 2*(half/w)*(half/w)
		f.effective += 1 / v / n
		f.noise += v / n
		if c.Weight > 0 {
			whole := c.WeightSq / c.Weight / c.Weight
			f.grain += whole * whole / 12 / n
		}
	}
	return f
}

func (f floor) variance() float64 {
	if f.effective < fewSamples && !f.complete {
		return max(f.grain, f.noise)
	}
	return f.grain
}

// A shift is the logarithm of a ratio whose estimate varies as t does.
type shift struct {
	log, se float64
	df      float64 // +Inf is normal
	n, m    int     // runs of base and head; 0 if se is not from runs
}

func (s shift) above(limit float64) float64 { return s.survival(s.log - limit) }
func (s shift) below(limit float64) float64 { return s.survival(limit - s.log) }

// survival is the probability that the error of log exceeds d.
func (s shift) survival(d float64) float64 {
	if x := d / s.se; d != 0 {
		return survival(x, s.df)
	}
	return 0.5
}

func (s shift) interval(level float64) Interval {
	d := quantile(1-(1-level)/2, s.df) * s.se
	return Interval{math.Exp(s.log - d), math.Exp(s.log + d)}
}

// survival is the probability that t of df exceeds x.
func survival(x, df float64) float64 {
	if math.IsInf(df, 1) || math.IsInf(x, 0) {
		return normalSurvival(x)
	}
	return studentSurvival(x, df)
}

// normalSurvival is accurate in the tail, where 1-CDF would be 0.
func normalSurvival(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// manyDegrees of freedom are enough for the expansion of t quantiles about the normal ones:
// it errs by less than 1e-5 of them up to 5 standard errors.
const manyDegrees = 100

// quantile is a quantile of Student's t distribution. To find the runs needed takes many
// quantiles with many degrees of freedom: there the expansion of Abramowitz and Stegun,
// 26.7.5, is fast.
func quantile(p, df float64) float64 {
	if df < manyDegrees {
		return quantiles.at(quantileKey{p, df})
	}
	z := mathext.NormalQuantile(p)
	if math.IsInf(df, 1) || math.IsInf(z, 0) {
		return z
	}
	z2 := z * z
	g1 := (z2 + 1) / 4
	g2 := ((5*z2+16)*z2 + 3) / 96
	g3 := (((3*z2+19)*z2+17)*z2 - 15) / 384
	g4 := ((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160
	return z * (1 + (g1+(g2+(g3+g4/df)/df)/df)/df)
}

type quantileKey struct{ p, df float64 }

var quantiles = memo[quantileKey]{of: func(k quantileKey) float64 {
	return StudentQuantile(k.p, k.df)
}}
