package stats

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// A Look says when runs are compared, where it was planned beforehand to look twice:
// after half of the runs, and after all of them only if the first look left the question
// open. Both looks together err no more often than a single one would (O'Brien and
// Fleming, 1979, "A multiple testing procedure for clinical trials"): the first needs
// much stronger evidence, the second little more than without it.
//
// All p and levels are one-sided. With several hypotheses, a procedure for families such
// as [Holm] takes [Look.Overall] of each p (Ye, Li, Liu and Yao, 2013, "A group sequential
// Holm procedure with multiple primary endpoints").
type Look int

// The looks.
const (
	OnlyLook Look = iota
	FirstLook
	SecondLook
)

// Overall is the level of both looks together at which p would be just enough at this one.
func (l Look) Overall(p float64) float64 {
	switch {
	case l != FirstLook && l != SecondLook || math.IsNaN(p) || p <= 0:
		return p
	case p >= 1:
		return 1
	}
	b := -mathext.NormalQuantile(p)
	if l == SecondLook {
		b *= math.Sqrt2
	}
	return min(1, crossing(b))
}

// Level is how small a p has to be at this look for both together to err at most with the
// probability alpha: .0088 and .0467 for .05.
func (l Look) Level(alpha float64) float64 {
	if l != FirstLook && l != SecondLook || !(alpha > 0 && alpha < 1) {
		return alpha
	}
	bound := lookBounds.at(alpha)
	if l == SecondLook {
		bound /= math.Sqrt2
	}
	return normalSurvival(bound)
}

// lookBounds are the bounds that both looks together cross with a probability.
var lookBounds = memo[float64]{of: func(alpha float64) float64 {
	// One of two looks is at most as likely to err as both together.
	lo, hi := -9.0, 40.0
	for range 60 {
		if b := (lo + hi) / 2; crossing(b) > alpha {
			lo = b
		} else {
			hi = b
		}
	}
	return hi
}}

// crossing is the probability that a walk of two steps, each standard normal, is above b
// after the first or the second. The sum of the runs up to a look is such a walk.
func crossing(b float64) float64 {
	// Above b at the end and not before. The product peaks near b/2.
	step := func(z float64) float64 {
		return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * normalSurvival(b-z)
	}
	const far = 9
	lo, hi := min(b, b/2)-far, min(b, b/2+far)
	sum, n := 0.0, quadrature()
	for i, x := range n.x {
		sum += n.weight[i] * step(lo+(hi-lo)*x)
	}
	return normalSurvival(b) + (hi-lo)*sum
}

// nodes are the points and weights of a quadrature over 0 to 1.
type nodes struct{ x, weight []float64 }

// quadraturePoints are enough for crossing.
const quadraturePoints = 64

var quadrature = sync.OnceValue(func() nodes { return newNodes(quadraturePoints) })

// newNodes are the n points and weights of Gauss and Legendre: the points are the zeros of the
// Legendre polynomial of degree n, found by Newton's method from where Abramowitz and Stegun,
// 22.16.6, have them about (25.4.29 has the weights).
func newNodes(n int) nodes {
	q := nodes{make([]float64, n), make([]float64, n)}
	for i := range n {
		x, slope := math.Cos(math.Pi*(float64(i)+0.75)/(float64(n)+0.5)), 0.0
		for range 6 {
			// The polynomials of degrees k and k-1 at x, by their recurrence (22.7.10).
			p, before := 1.0, 0.0
			for k := 1.0; k <= float64(n); k++ {
				p, before = ((2*k-1)*x*p-(k-1)*before)/k, p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			x -= p / slope
		}
		q.x[i], q.weight[i] = (1+x)/2, 1/((1-x*x)*slope*slope)
	}
	return q
}
