package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Clusters is the method of [Tests.Clusters].
const Clusters Method = "clusters"

// MaxClusters is the most clusters that [Estimate.RunsNeeded] returns: so many or more.
const MaxClusters = 10_000_000

// A Clustered is the mean of one side of a survey: of clusters such as devices, in strata such as
// models of devices, with the variance that the clusters show.
type Clustered struct {
	// Mean is Σ wₕRₕ over the strata h, with Rₕ = Σx/Σy of its clusters. Variance is
	// Σ wₕ²Var(Rₕ), linearised (Cochran, 1977, ratio estimate).
	Mean, Variance float64
	// Freedom is Σ (wₕ²Var(Rₕ))²/(nₕ-1), from which Satterthwaite's degrees of freedom follow.
	Freedom float64
	// Clusters is the number of all clusters, with and without the quantity.
	Clusters int
	// Half is the mean that half a sample would be, which stands for none; 0 if unknown.
	Half float64
}

// Clusters compares two surveys with the same weights of strata.
//
//  1. That the ratio is r means that head - r·base is 0. Its variance is Vhead + r²Vbase, with
//     degrees of freedom by Satterthwaite (1946), and it is tested by Student's t, which is the
//     normal distribution where there are many (Fieller, 1954). At r = 1 that is the test of the
//     difference.
//  2. The interval has the ratios that this does not refuse. It has no upper end if base may be 0.
//  3. Where a side has nothing, its share may be up to what half a sample is: limits other
//     than 1, and the interval, are tested with that in its place.
func (t *Tests) Clusters(base, head Clustered) Estimate {
	e := Estimate{
		Method: Clusters, Ratio: math.NaN(), CI: everything(), P: 1,
		Capped: min(base.Clusters, head.Clusters) < LeastRuns, BaseRuns: base.Clusters, HeadRuns: head.Clusters,
	}
	switch {
	case !base.valid() || !head.valid():
		e.Refused = "a mean or a variance is negative, infinite or not a number"
	case base.Mean == 0 && head.Mean == 0:
		e.Refused = "no weight in any cluster"
	case base.Variance+head.Variance == 0:
		e.Refused = "clusters do not differ: they show no noise"
	}
	if e.Refused != "" {
		return e
	}
	m := fieller{base: base, head: head}
	e.Ratio, e.CI = head.Mean/base.Mean, m.interval(t.level)
	e.finish(m)
	return e
}

func (c *Clustered) valid() bool {
	for _, v := range []float64{c.Mean, c.Variance, c.Freedom, c.Half} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return false
		}
	}
	return c.Clusters > 0
}

// A fieller is a ratio of two means that each vary as t does.
type fieller struct{ base, head Clustered }

// or is c, or what may be there if there is nothing.
func (c Clustered) or() Clustered {
	if c.Mean == 0 {
		c.Mean, c.Variance, c.Freedom = c.Half, 2*c.Half*c.Half, 0
	}
	return c
}

// at is head - r·base in standard errors, with its degrees of freedom.
func (m fieller) at(limit float64) (x, df float64) {
	base, head, r := m.base, m.head, math.Exp(limit)
	if limit != 0 {
		base, head = base.or(), head.or()
	}
	d, v := head.Mean-r*base.Mean, head.Variance+r*r*base.Variance
	if d == 0 {
		return 0, math.Inf(1)
	}
	return d / math.Sqrt(v), v * v / (head.Freedom + r*r*r*r*base.Freedom)
}

func (m fieller) above(limit float64) float64 {
	x, df := m.at(limit)
	return survival(x, df)
}

func (m fieller) below(limit float64) float64 {
	x, df := m.at(limit)
	return survival(-x, df)
}

// interval are the ratios that are not refused at a level.
func (m fieller) interval(level float64) Interval {
	i := Interval{Lo: m.end(level, -1), Hi: m.end(level, 1)}
	if m.base.Mean == 0 {
		i.Hi = math.Inf(1)
	}
	if m.head.Mean == 0 {
		i.Lo = 0
	}
	return i
}

// end is one end of the interval: of (head - r·base)² = t²(Vhead + r²Vbase) the lower root if
// side is -1, and the upper if it is 1. The degrees of freedom of t depend on r, only a little: a few steps find both.
func (m fieller) end(level, side float64) float64 {
	a, b := m.base.or(), m.head.or()
	r := 1.0
	if m.base.Mean > 0 {
		r = b.Mean / a.Mean
	}
	const steps, enough = 40, 1e-10
	for range steps {
		v := b.Variance + r*r*a.Variance
		t := quantileOnce(1-(1-level)/2, v*v/(b.Freedom+r*r*r*r*a.Freedom))
		square := a.Mean*a.Mean - t*t*a.Variance
		// Half of the discriminant, without the difference of large numbers.
		root := t * math.Sqrt(max(0, a.Mean*a.Mean*b.Variance+b.Mean*b.Mean*a.Variance-t*t*a.Variance*b.Variance))
		var next float64
		switch {
		case side > 0 && square <= 0:
			return math.Inf(1)
		case side > 0:
			next = (a.Mean*b.Mean + root) / square
		default:
			// The other root over the product of both, which has no difference if square is 0.
			next = max(0, (b.Mean*b.Mean-t*t*b.Variance)/(a.Mean*b.Mean+root))
		}
		if math.IsNaN(next) {
			return map[bool]float64{false: 0, true: math.Inf(1)}[side > 0]
		}
		if math.Abs(next-r) <= enough*r {
			return next
		}
		r = next
	}
	return r
}

// quantileOnce is a quantile of Student's t for degrees of freedom that hardly come again.
func quantileOnce(p, df float64) float64 {
	if df < manyDegrees {
		return StudentQuantile(p, df)
	}
	return quantile(p, df)
}

// log is the standard error of the logarithm of the ratio, with its degrees of freedom; ok is
// false where a side has nothing.
func (m fieller) log() (se, df float64, ok bool) {
	a, b := m.base, m.head
	if a.Mean == 0 || b.Mean == 0 {
		return 0, 0, false
	}
	va, vb := a.Variance/a.Mean/a.Mean, b.Variance/b.Mean/b.Mean
	fa, fb := a.Freedom/math.Pow(a.Mean, 4), b.Freedom/math.Pow(b.Mean, 4)
	return math.Sqrt(va + vb), (va + vb) * (va + vb) / (fa + fb), true
}

func (m fieller) detectable(alpha, power float64) float64 {
	se, df, ok := m.log()
	if !ok {
		return math.Inf(1)
	}
	return math.Expm1((quantileOnce(1-alpha/2, df) + mathext.NormalQuantile(power)) * se)
}

func (m fieller) spread() spread {
	se, _, ok := m.log()
	if !ok {
		return spread{}
	}
	return spread{sd: perRun(se, m.base.Clusters, m.head.Clusters), known: true, clusters: true}
}

// clustersNeeded is [Estimate.RunsNeeded] of clusters, of which there are so many that the normal
// distribution tells.
func (s spread) clustersNeeded(distance, alpha, power float64) int {
	z := (mathext.NormalQuantile(1-alpha) + mathext.NormalQuantile(power)) * s.sd / distance
	if n := 2 * z * z; n < MaxClusters {
		return max(int(math.Ceil(n)), LeastRuns)
	}
	return MaxClusters
}
