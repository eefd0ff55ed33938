package estimate

import (
	"math"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
)

// A Clustered is the ratio of two sums over clusters.
type Clustered struct {
	Value, Variance float64
	Executions      int64 // in the denominator
	Clusters        int64
}

// effective is the number of independent executions that would tell as much: at most
// those there are, less where the executions of a sample are alike, and less where
// few samples say how alike (Korn and Graubard, 1998).
func (r Clustered) effective() float64 {
	if r.Clusters < 2 {
		return 0
	}
	n := float64(r.Executions)
	if r.Value <= 0 || r.Value >= 1 {
		// No variance is seen: the samples may be all that is independent.
		return math.Min(n, float64(r.Clusters))
	}
	if r.Variance > 0 {
		n = math.Min(n, r.Value*(1-r.Value)/r.Variance)
	}
	t := stats.StudentQuantile(0.975, float64(r.Clusters-1))
	shrink := stats.Z95 / t
	return n * shrink * shrink
}

// Estimate is the ratio, a proportion, with its interval.
func (r Clustered) Estimate() branch.Estimate {
	n := r.effective()
	ci := stats.Proportion(r.Value*n, n, 0.95)
	return branch.Estimate{Value: r.Value, Lo: ci.Lo, Hi: ci.Hi}
}

// Pairs are the sums over samples that the ratio of two counters and its variance need.
type Pairs struct {
	N          int64
	m, t       float64
	mm, mt, tt float64
}

// Add adds a sample: misses and what they are compared with.
func (p *Pairs) Add(m, t float64) {
	p.N++
	p.m += m
	p.t += t
	p.mm += m * m
	p.mt += m * t
	p.tt += t * t
}

// Ratio estimates Σm/Σt, times a factor.
func (p *Pairs) Ratio(factor float64) *branch.Ratio {
	if p.t <= 0 || p.N < branch.MinMisses {
		return nil // too few samples to say how they vary
	}
	r := Clustered{Value: p.m / p.t, Executions: int64(min(p.t, 1<<62)), Clusters: p.N}
	n := float64(p.N)
	r.Variance = n / (n - 1) * max(0, p.mm-2*r.Value*p.mt+r.Value*r.Value*p.tt) / (p.t * p.t)
	out := &branch.Ratio{Misses: float64(p.N)}
	if p.m == 0 {
		out.Misses = 0
	} else {
		out.Value = new(factor * r.Value)
	}
	if r.Value > 1 {
		half := stats.Z95 * math.Sqrt(r.Variance)
		out.CI = &[2]float64{factor * max(0, r.Value-half), factor * (r.Value + half)}
		return out
	}
	e := r.Estimate()
	out.CI = &[2]float64{factor * e.Lo, factor * e.Hi}
	return out
}
