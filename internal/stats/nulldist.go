package stats

import (
	"math"
	"slices"
	"sort"
)

const (
	// exactPairs is the number of pairs of runs (50 a side) up to which the
	// distribution of the rank test is exact.
	exactPairs = 50 * 50
	// tiedPairs is the same (25 a side) where values are tied, for which it has to
	// be made anew.
	tiedPairs = 25 * 25
)

// LeastRankP is the least one-sided p that ranks of so many runs can give, 1/C(n+m, n).
func LeastRankP(nBase, nHead int) float64 {
	p := 1.0
	for i := 1; i <= min(nBase, nHead); i++ {
		p *= float64(i) / float64(max(nBase, nHead)+i)
	}
	return p
}

// A null is the distribution of the Mann-Whitney number of pairs, doubled so that half
// pairs are whole, when both sides have one distribution.
type null struct {
	pairs  int
	belows []float64 // P(number ≤ i); nil for the approximation
	aboves []float64 // P(number ≥ i)
	step   int       // 2 if numbers are even, without ties between the sides
	sd     float64   // of the approximation by tail, whose mean is pairs
	excess float64   // kurtosis beyond that of the normal distribution
}

// below is P(number ≤ wins) in pairs; between possible numbers it is interpolated.
func (d *null) below(wins float64) float64 {
	if d.belows == nil {
		return tail((float64(d.pairs)-2*wins-1)/d.sd, d.excess) // continuous
	}
	return d.interpolate(d.belows, 2*wins)
}

// above is P(number ≥ wins).
func (d *null) above(wins float64) float64 {
	if d.aboves == nil {
		return tail((2*wins-float64(d.pairs)-1)/d.sd, d.excess)
	}
	return d.interpolate(d.aboves, 2*wins)
}

// edgeworthFrom is the p from which tail knows better than the normal distribution.
const edgeworthFrom = 1e-4

// tail is P(sum of ranks ≥ z standard deviations above the mean): the normal distribution with the
// term of Edgeworth for the excess of its kurtosis. The tails of rank sums are lighter than
// normal. Below edgeworthFrom the term is not enough and soon goes wrong, and
// the normal distribution alone is taken, which is too large: p are cautious there. Between both
// p stays what it is, so that it never grows with z.
func tail(z, excess float64) float64 {
	normal := normalSurvival(z)
	p := normal + excess/24*(z*z*z-3*z)*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
	if p >= edgeworthFrom {
		return min(p, 1)
	}
	return min(normal, edgeworthFrom)
}

// interpolate takes p between the possible numbers.
func (d *null) interpolate(p []float64, at float64) float64 {
	// Sums of wins are rounded; what is a whole number up to that is one.
	at = min(max(at, 0), float64(len(p)-1))
	if whole := math.Round(at); math.Abs(at-whole) < 1e-9 {
		at = whole
	}
	i := int(at) / d.step * d.step
	f := (at - float64(i)) / float64(d.step)
	if f == 0 {
		return min(1, p[i])
	}
	return min(1, (1-f)*p[i]+f*p[i+d.step])
}

// leastAbove is the least number that is rejected at alpha for being high. It is more
// than the number of pairs if none is.
func (d *null) leastAbove(alpha float64) float64 {
	return float64(d.step*sort.Search(2*d.pairs/d.step+1, func(i int) bool {
		return d.above(float64(i*d.step)/2) <= alpha
	})) / 2
}

// A nullKey says which distribution: runs of each side, and how many of all runs are
// zeros that are tied.
type nullKey struct{ n, m, zeros int }

// null returns the distribution for n and m runs of which zeros are tied and lowest.
func (t *Tests) null(n, m, zeros int) *null {
	key := nullKey{n, m, zeros}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, ok := t.nulls[key]; ok {
		return d
	}
	groups := make([]int, 0, n+m)
	if zeros > 0 {
		groups = append(groups, zeros)
	}
	for range n + m - zeros {
		groups = append(groups, 1)
	}
	d := newNormalNull(n, m, groups)
	if n*m <= exactPairs {
		d = newNull(n, m, groups)
	}
	t.nulls[key] = d
	return d
}

// newNull counts in how many ways n runs of base and m of head can be dealt to values of
// which groups are tied, in ascending order. The counts are only ever added: the quotient
// of products that is faster loses all digits from some 150 runs on.
func newNull(n, m int, groups []int) *null {
	if n < m { // it takes n·m³ steps
		d := newNull(m, n, groups)
		d.belows, d.aboves = d.aboves, d.belows
		slices.Reverse(d.belows)
		slices.Reverse(d.aboves)
		return d
	}
	// ways[b][u]: after some groups, b runs of head are dealt and the number is u.
	ways := make([][]float64, m+1)
	for b := range ways {
		ways[b] = make([]float64, 2*b*n+1)
	}
	ways[0][0] = 1
	dealt := 0
	for _, size := range groups {
		for b := min(m, dealt+size); b > 0; b-- {
			choices := 1.0
			for j := 1; j <= min(size, b); j++ {
				choices *= float64(size-j+1) / float64(j)
				before := dealt - (b - j) // runs of base that are lower
				if before < 0 || before > n || before+size-j > n {
					continue
				}
				from, to := ways[b-j][:2*(b-j)*before+1], ways[b][2*j*before+j*(size-j):]
				for u, w := range from {
					to[u] += choices * w
				}
			}
		}
		dealt += size
	}
	d := &null{pairs: n * m, belows: make([]float64, 2*n*m+1), aboves: ways[m], step: 2}
	if slices.Max(groups) > 1 {
		d.step = 1
	}
	all := LeastRankP(n, m)
	sum := 0.0
	for u, w := range d.aboves {
		d.aboves[u] = w * all
		sum += w * all
		d.belows[u] = sum
	}
	for u := len(d.aboves) - 2; u >= 0; u-- {
		d.aboves[u] += d.aboves[u+1]
	}
	return d
}

// newNormalNull is the approximation by tail. With ties it is the normal one with their
// variance.
func newNormalNull(n, m int, groups []int) *null {
	a, b := float64(n), float64(m)
	ties := 0.0
	for _, size := range groups {
		t := float64(size)
		ties += t * (t*t - 1)
	}
	variance := a * b / 12 * (a + b + 1 - ties/((a+b)*(a+b-1)))
	d := &null{pairs: n * m, step: 1, sd: 2 * math.Sqrt(variance)}
	if ties == 0 {
		d.excess = -1.2 * (a*a + b*b + a*b + a + b) / (a * b * (a + b + 1))
	}
	return d
}
