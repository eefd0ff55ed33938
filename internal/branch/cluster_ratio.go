package branch

import (
	"math"
	"profdiff/internal/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// A ratio is that of two sums over clusters (Cochran, Sampling Techniques, 6.4).
type ratio struct {
	value, variance float64
	executions      int64 // in the denominator
	clusters        int64
}

// effective is the number of independent executions that would tell as much: at most
// those there are, less where the executions of a sample are alike, and less where
// few samples say how alike (Korn and Graubard, 1998).
func (r ratio) effective() float64 {
	if r.clusters < 2 {
		return 0
	}
	n := float64(r.executions)
	if r.value <= 0 || r.value >= 1 {
		// No variance is seen: the samples may be all that is independent.
		return math.Min(n, float64(r.clusters))
	}
	if r.variance > 0 {
		n = math.Min(n, r.value*(1-r.value)/r.variance)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(r.clusters - 1)}.Quantile(0.975)
	shrink := z95 / t
	return n * shrink * shrink
}

// estimate is the ratio, a proportion, with its interval.
func (r ratio) estimate() Estimate {
	n := r.effective()
	ci := stats.Proportion(r.value*n, n, 0.95)
	return Estimate{Value: r.value, Lo: ci.Lo, Hi: ci.Hi}
}

// pairSums are the sums that the ratio of two counters and its variance need, over
// samples (Cochran, Sampling Techniques, 6.4).
type pairSums struct {
	n          int64
	m, t       float64
	mm, mt, tt float64
}

func (p *pairSums) add(m, t float64) {
	p.n++
	p.m += m
	p.t += t
	p.mm += m * m
	p.mt += m * t
	p.tt += t * t
}

// ratio estimates Σm/Σt, times a factor.
func (p *pairSums) ratio(factor float64) *Ratio {
	if p.t <= 0 || p.n < MinMisses {
		return nil // too few samples to say how they vary
	}
	r := ratio{value: p.m / p.t, executions: int64(min(p.t, 1<<62)), clusters: p.n}
	n := float64(p.n)
	r.variance = n / (n - 1) * max(0, p.mm-2*r.value*p.mt+r.value*r.value*p.tt) / (p.t * p.t)
	out := &Ratio{Misses: float64(p.n)}
	if p.m == 0 {
		out.Misses = 0
	} else {
		out.Value = new(factor * r.value)
	}
	if r.value > 1 {
		half := z95 * math.Sqrt(r.variance)
		out.CI = &[2]float64{factor * max(0, r.value-half), factor * (r.value + half)}
		return out
	}
	e := r.estimate()
	out.CI = &[2]float64{factor * e.Lo, factor * e.Hi}
	return out
}
