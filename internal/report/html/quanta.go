package html

import (
	"math"
	"slices"

	"profdiff/internal/report/diff"
)

// Quanta are the self costs of frames as multiples of a quantum.
type quanta struct {
	quantum float64
	self    [][2]int64 // by frame: base and head
}

// quantize rounds the costs of frames such that no sum of a subtree is off by more than one quantum, which is the
// number that all of them are multiples of, where each sample stands for as much as another, or a thousandth of an
// average sample: coarser ones are shorter, but what the costs of functions then differ takes more than that saves.
func quantize(e *Event) *quanta {
	f := &e.Frames
	q := &quanta{quantum: 1, self: make([][2]int64, len(f.Level))}
	var sum [2]float64
	for i := range f.Level {
		sum[0] += f.Base[i]
		sum[1] += f.Head[i]
	}
	samples := float64(e.Total.BaseSamples + e.Total.HeadSamples)
	steps := max(1<<20, min(1<<30, 1000*samples))
	if least := max(sum[0], sum[1]) / steps; least > 0 {
		if q.quantum = commonDivisor(least, f.Base, f.Head); q.quantum == 0 {
			q.quantum = least
		}
	}
	for k, costs := range [][]float64{f.Base, f.Head} {
		d := diffusion{quantum: q.quantum}
		for i, v := range costs {
			q.self[i][k] = d.next(v)
		}
	}
	return q
}

// commonDivisor is the greatest number that all costs are multiples of as far as they are exact, 0 if that is below
// least. It is found by Euclid's algorithm.
func commonDivisor(least float64, lists ...[]float64) float64 {
	const exact = 1e-6 // of the divisor
	g, most := 0.0, 0.0
	for _, list := range lists {
		for _, v := range list {
			if v < 0 {
				return 0
			}
			most = max(most, v)
			for v > 0 {
				if g == 0 {
					g = v
				}
				rest := math.Mod(v, g)
				if rest <= exact*g || g-rest <= exact*g {
					break
				}
				if rest < least {
					return 0
				}
				v, g = g, rest
			}
		}
	}
	if g < least {
		return 0
	}
	return most / math.Round(most/g) // which is more exact than what remained
}

// ofFunctions are the costs of n functions, alone and with what they call, as the frames say.
func (q *quanta) ofFunctions(f *diff.Frames, n int) (self, total [][2]float64) {
	end := ends(f)
	below := slices.Clone(q.self)
	open := make([][2]int64, slices.Max(append([]int32{0}, f.Level...))+2) // by level, of frames whose caller comes
	for i := len(below) - 1; i >= 0; i-- {
		at, callees := &open[f.Level[i]], &open[f.Level[i]+1]
		for k := range 2 {
			below[i][k] += callees[k]
			at[k] += below[i][k]
		}
		*callees = [2]int64{}
	}
	selfs, totals, until := make([][2]int64, n), make([][2]int64, n), make([]int32, n)
	for i, fn := range f.Function {
		if fn < 0 {
			continue
		}
		outermost := int32(i) >= until[fn]
		if outermost {
			until[fn] = end[i]
		}
		for k := range 2 {
			selfs[fn][k] += q.self[i][k]
			if outermost {
				totals[fn][k] += below[i][k]
			}
		}
	}
	costs := func(list [][2]int64) [][2]float64 {
		out := make([][2]float64, n)
		for i, v := range list {
			out[i] = [2]float64{float64(v[0]) * q.quantum, float64(v[1]) * q.quantum}
		}
		return out
	}
	return costs(selfs), costs(totals)
}
