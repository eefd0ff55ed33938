package stats

import (
	"fmt"
	"math"
)

// Boundaries are the one-sided levels of looks at runs that come one after the other: how
// small p has to be at each look for all looks together to err at most with the probability
// alpha. fractions say how much of the most that is ever recorded is there at each look,
// ascending, above 0 and at most 1. Up to the fraction t, alpha·t^rho may be spent (Kim and
// DeMets, 1987, "Design and analysis of group sequential tests based on the type I error
// spending rate function"; Lan and DeMets, 1983, "Discrete sequential boundaries for clinical
// trials"). Looks need not be planned one by one: a level depends on the looks so far, not on
// later ones.
func Boundaries(alpha, rho float64, fractions []float64) ([]float64, error) {
	if !(alpha > 0 && alpha < 1) || !(rho > 0 && rho <= 10) {
		return nil, fmt.Errorf("an error of %v cannot be spent by the power %v", alpha, rho)
	}
	levels, last := make([]float64, len(fractions)), 0.0
	w := &walk{}
	for i, t := range fractions {
		if !(t > last && t <= 1) {
			return nil, fmt.Errorf("look %d is at the fraction %v, after %v", i+1, t, last)
		}
		levels[i] = w.step(t, alpha*(math.Pow(t, rho)-math.Pow(last, rho)))
		last = t
	}
	return levels, nil
}

// A walk is Brownian motion that was below a boundary at every look so far: the evidence
// gathered up to a fraction of time, if there is no effect. Its density is integrated from
// look to look (Armitage, McPherson and Rowe, 1969, "Repeated significance tests on
// accumulating data") by Simpson's rule.
type walk struct {
	time    float64
	at      []float64 // places, evenly apart, the last at the boundary
	density []float64 // times Simpson's weight
}

const (
	// far is how many standard deviations away from its mean a walk is left out of account.
	// What is so far below the boundary is above it later with a probability below 1e-15.
	far = 8.5
	// pointsPerStep is how many points the density has in one standard deviation of the
	// next step.
	pointsPerStep = 4
	// leastPoints are the fewest points that the density has.
	leastPoints = 200
)

// step goes on to a time and returns the level whose boundary the walk is above then, and was
// at no look before, with the probability error.
func (w *walk) step(time, error float64) (level float64) {
	sd := math.Sqrt(time - w.time)
	crossed := func(b float64) float64 {
		if w.at == nil {
			return normalSurvival(b / sd)
		}
		sum := 0.0
		for i := w.from(b - far*sd); i < len(w.at); i++ {
			sum += w.density[i] * normalSurvival((b-w.at[i])/sd)
		}
		return sum
	}
	lo, hi := -far, 40.0
	for range 64 {
		if mid := (lo + hi) / 2; crossed(mid*math.Sqrt(time)) > error {
			lo = mid
		} else {
			hi = mid
		}
	}
	w.move(time, sd, hi*math.Sqrt(time))
	return normalSurvival(hi)
}

// from is the index of the first point at or above x.
func (w *walk) from(x float64) int {
	step := w.at[1] - w.at[0]
	return min(max(int(math.Ceil((x-w.at[0])/step)), 0), len(w.at))
}

// move computes the density at a time, below the boundary b.
func (w *walk) move(time, sd, b float64) {
	low := min(b, 0) - far*math.Sqrt(time)
	n := max(leastPoints, int((b-low)/sd*pointsPerStep))
	n += n % 2
	h := (b - low) / float64(n)
	next := walk{time: time, at: make([]float64, n+1), density: make([]float64, n+1)}
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / (sd * math.Sqrt(2*math.Pi)) }
	for i := range next.at {
		x := low + float64(i)*h
		f := 0.0
		if w.at == nil {
			f = normal(x / sd)
		} else {
			for j := w.from(x - far*sd); j < len(w.at) && w.at[j] <= x+far*sd; j++ {
				f += w.density[j] * normal((x-w.at[j])/sd)
			}
		}
		weight := h / 3
		switch {
		case i == 0 || i == n:
		case i%2 == 1:
			weight *= 4
		default:
			weight *= 2
		}
		next.at[i], next.density[i] = x, f*weight
	}
	*w = next
}
