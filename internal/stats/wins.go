package stats

import (
	"cmp"
	"math"
	"slices"
)

// A spot is where the cost of a run can be: anywhere within width around at, with the
// same probability.
type spot struct {
	at, width float64
	density   float64 // runs by width, if there are edges
	runs      int32   // how many runs have this cost
	zero      bool
}

func (s *spot) from() float64 { return s.at - s.width/2 }
func (s *spot) to() float64   { return s.at + s.width/2 }

// spots are the runs of one side.
type spots struct {
	list  []spot // ascending, equal ones once
	runs  int32
	zeros float64 // runs without cost
	// widest is the width of the widest spot.
	widest float64
	// edges are the ends of all spots but zeros in ascending order: twice the index in list,
	// plus 1 for the upper end. It is nil if there are few spots, or some that the sweep
	// cannot add exactly.
	edges []int32
}

const (
	// sweepSpots is the number of different spots from which a sweep over their edges is
	// faster than all pairs that overlap.
	sweepSpots = 32
	// sweepRange is how many times a spot may be as wide as another, or as far from 0 as
	// it is wide. Beyond it the sums of a sweep lose digits. Spots far from 0 overlap few
	// others.
	sweepRange = 1e4
	// same is the relative difference up to which two runs of a side are one spot, far less than
	// rounding: what dividing equal values leaves.
	same = 1e-14
)

// newSpots sorts runs and joins equal ones. Weights are divided by unit, and zeros are anything up to half.
func newSpots(runs []WeightedCount, half, unit float64) *spots {
	s := &spots{runs: int32(len(runs))}
	list := make([]spot, len(runs))
	for i, c := range runs {
		switch {
		case c.Weight > 0:
			list[i] = spot{at: c.Weight / unit, width: min(c.WeightSq/c.Weight, c.Weight) / unit, runs: 1}
		default:
			list[i] = spot{at: half / 2 / unit, width: half / unit, runs: 1, zero: true}
			s.zeros++
		}
		s.widest = max(s.widest, list[i].width)
	}
	slices.SortFunc(list, func(a, b spot) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.width, b.width)) })
	n := 0
	for _, x := range list[1:] {
		if l := &list[n]; x.zero == l.zero && x.at-l.at <= same*x.at && math.Abs(x.width-l.width) <= same*x.width {
			l.runs++
		} else {
			n++
			list[n] = x
		}
	}
	s.list = slices.Clip(list[:n+1])
	if len(s.list) >= sweepSpots {
		s.edges = sortedEdges(s.list)
	}
	return s
}

// floor are the same runs with zeros that are nothing.
func (s *spots) floor() *spots {
	if s.zeros == 0 {
		return s
	}
	f := &spots{runs: s.runs, zeros: s.zeros, widest: s.widest, list: []spot{{runs: int32(s.zeros), zero: true}}}
	for _, x := range s.list {
		if !x.zero {
			f.list = append(f.list, x)
		}
	}
	if s.edges != nil {
		f.edges = sortedEdges(f.list)
	}
	return f
}

func sortedEdges(list []spot) []int32 {
	narrow, wide := math.Inf(1), 0.0
	lower, upper := make([]int32, 0, len(list)), make([]int32, 0, len(list))
	for i := range list {
		x := &list[i]
		if x.zero {
			continue
		}
		narrow, wide = min(narrow, x.width), max(wide, x.width)
		if x.at > sweepRange*x.width {
			return nil
		}
		x.density = float64(x.runs) / x.width
		lower, upper = append(lower, int32(2*i)), append(upper, int32(2*i+1))
	}
	if len(lower) == 0 || wide > sweepRange*narrow {
		return nil
	}
	// Each of both is nearly sorted.
	slices.SortFunc(lower, func(a, b int32) int { return cmp.Compare(list[a/2].from(), list[b/2].from()) })
	slices.SortFunc(upper, func(a, b int32) int { return cmp.Compare(list[a/2].to(), list[b/2].to()) })
	edges := make([]int32, 0, 2*len(lower))
	for i, j := 0, 0; j < len(upper); {
		if i < len(lower) && list[lower[i]/2].from() <= list[upper[j]/2].to() {
			edges = append(edges, lower[i])
			i++
		} else {
			edges = append(edges, upper[j])
			j++
		}
	}
	return edges
}

// wins is the Mann-Whitney number of pairs in which head is larger than ratio times base, each
// counted with the probability that it is. Two zeros are tied.
func wins(ratio float64, base, head *spots) float64 {
	if base.edges != nil && head.edges != nil {
		return base.zeros*head.zeros/2 + zeroWins(ratio, base, head) + sweep(ratio, base, head)
	}
	reach := (head.widest+ratio*base.widest)/2 + rounding // how far apart spots can overlap
	won, from, lost := 0.0, 0, int32(0)                   // runs of head before from are lost
	for i := range base.list {
		x := base.list[i]
		x.at *= ratio
		x.width *= ratio
		for ; from < len(head.list) && head.list[from].at < x.at-reach; from++ {
			lost += head.list[from].runs
		}
		sum, near := 0.0, int32(0)
		for j := from; j < len(head.list) && head.list[j].at <= x.at+reach; j++ {
			y := &head.list[j]
			sum += float64(y.runs) * larger(y, &x)
			near += y.runs
		}
		won += float64(x.runs) * (sum + float64(head.runs-lost-near))
	}
	return won
}

// sweep is wins without those of zeros, as the integral of F(t) g(t) dt, where F is the sum of the
// distributions of base and g the sum of the densities of head: F is linear and g constant
// between two edges of any spots. t is in units of base.
func sweep(ratio float64, base, head *spots) float64 {
	f, g := newDensity(base, 1), newDensity(head, 1/ratio)
	won, below, t := 0.0, 0.0, 0.0 // below is F(t)
	for g.next < math.Inf(1) {
		at := min(f.next, g.next)
		if d := at - t; d > 0 {
			won += g.sum * d * (below + f.sum*d/2)
			below += f.sum * d
			t = at
		}
		if f.next > at {
			g.step()
			continue
		}
		f.step()
		if f.inside == 0 {
			below = float64(f.passed) // without what rounding left
		}
	}
	return won * ratio
}

// A density is the sum of the densities of all spots, moving from edge to edge.
type density struct {
	*spots
	scale  float64 // of places
	edge   int     // index of the next edge
	next   float64 // where it is, +Inf after the last
	sum    float64
	inside int32 // runs whose spots the place is in
	passed int32 // runs whose spots are below it
}

func newDensity(s *spots, scale float64) density {
	return density{spots: s, scale: scale, next: scale * s.list[s.edges[0]>>1].from()}
}

// step adds the next edge.
func (d *density) step() {
	e := d.edges[d.edge]
	switch x := &d.list[e>>1]; {
	case e&1 == 0:
		d.sum += x.density
		d.inside += x.runs
	case d.inside == x.runs:
		d.sum = 0 // without what rounding left
		d.inside = 0
		d.passed += x.runs
	default:
		d.sum -= x.density
		d.inside -= x.runs
		d.passed += x.runs
	}
	if d.edge++; d.edge == len(d.edges) {
		d.next = math.Inf(1)
		return
	}
	e = d.edges[d.edge]
	x := &d.list[e>>1]
	d.next = d.scale * (x.at + x.width*(float64(e&1)-0.5))
}

// zeroWins are the wins of pairs of which one is a zero.
func zeroWins(ratio float64, base, head *spots) float64 {
	won := 0.0
	if base.zeros > 0 {
		z := base.zero(ratio)
		for i := range head.list {
			if y := &head.list[i]; !y.zero {
				won += base.zeros * float64(y.runs) * larger(y, &z)
			}
		}
	}
	if head.zeros > 0 {
		z := head.zero(1)
		for i := range base.list {
			if x := base.list[i]; !x.zero {
				x.at *= ratio
				x.width *= ratio
				won += head.zeros * float64(x.runs) * larger(&z, &x)
			}
		}
	}
	return won
}

// zero is the spot of a zero times ratio.
func (s *spots) zero(ratio float64) spot {
	z := s.list[slices.IndexFunc(s.list, func(x spot) bool { return x.zero })]
	z.at *= ratio
	z.width *= ratio
	return z
}

// larger is the probability that y is larger than x. Two zeros are tied.
func larger(y, x *spot) float64 {
	d, far := y.at-x.at, (y.width+x.width)/2
	switch {
	case y.zero && x.zero, math.Abs(d) <= rounding*max(y.at, x.at):
		return 0.5
	case d >= far:
		return 1
	case d <= -far:
		return 0
	}
	wide, narrow := max(y.width, x.width), min(y.width, x.width)
	switch {
	case math.Abs(d) <= (wide-narrow)/2:
		return 0.5 + d/wide
	case d > 0:
		return 1 - (far-d)/wide*((far-d)/narrow)/2
	default:
		return (far + d) / wide * ((far + d) / narrow) / 2
	}
}
