package stats

import "math"

// A search is where a limit is looked for up to which something holds.
type search struct {
	from, to float64 // it is between, or beyond all that there is
	grain    float64 // the precision to which it is found
}

// last is the largest limit at which holds is true, which it is up to there. above is a number that
// falls through 0 about there. The limit is looked for around guess in growing steps, then by
// the method ITP (Oliveira and Takahashi, 2020), which takes few steps where above falls steadily
// and no more than bisection where it does not. It is infinite if it is not between from and to.
func (s search) last(guess, step float64, at func(limit float64) (above float64, holds bool)) float64 {
	lo := min(max(guess, s.from), s.to)
	hi := lo
	aboveLo, holds := at(lo)
	aboveHi := aboveLo
	for upward := holds; holds == upward; step *= 2 {
		switch {
		case upward && hi == s.to:
			return math.Inf(1)
		case upward:
			lo, aboveLo = hi, aboveHi
			hi = min(hi+step, s.to)
			aboveHi, holds = at(hi)
		case lo == s.from:
			return math.Inf(-1)
		default:
			hi, aboveHi = lo, aboveLo
			lo = max(lo-step, s.from)
			aboveLo, holds = at(lo)
		}
	}
	width := hi - lo
	// No wider than this after the next step, so that there are no more than by bisection but one.
	bound := s.grain * math.Exp2(math.Ceil(math.Log2(width/s.grain)))
	for hi-lo > s.grain {
		mid := (lo + hi) / 2
		x := mid
		// Where the line through both is 0, moved towards the middle so that both ends close in.
		if line := (aboveLo*hi - aboveHi*lo) / (aboveLo - aboveHi); line >= lo && line <= hi {
			if toMid := max(0.2*(hi-lo)*(hi-lo)/width, s.grain/4); toMid <= math.Abs(mid-line) {
				x = line + math.Copysign(toMid, mid-line)
			}
		}
		slack := max(bound-(hi-lo)/2, 0)
		x = min(max(x, mid-slack), mid+slack)
		if above, holds := at(x); holds {
			lo, aboveLo = x, above
		} else {
			hi, aboveHi = x, above
		}
		bound /= 2
	}
	return (lo + hi) / 2
}

// valueAt is where p, which grows between lo and hi, is alpha.
func valueAt(alpha, lo, hi float64, p func(float64) float64) float64 {
	for grain := 1e-12 * (hi - lo); hi-lo > grain; {
		if mid := (lo + hi) / 2; p(mid) > alpha {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}
