package align

import (
	"math"
	"math/bits"
)

// evidence is how two functions agree in one direction of the call graph. Only
// neighbours count that are matched themselves.
type evidence struct {
	// similarity of how the weights are spread over the neighbours that are
	// known, 0 to 1: the Bhattacharyya coefficient, which bears that some became
	// cheaper.
	similarity float64
	// shared is the number of neighbours in common, those with many neighbours
	// of their own counting less: everybody calls memcpy.
	shared float64
	// known is the share of the weight of edges that goes to matched
	// neighbours: the greater one of both sides, as a matched neighbour cannot
	// be the same as one that is not. Without it there is no evidence, for or
	// against.
	known float64
	// oneSided: only one side has neighbours at all.
	oneSided bool
}

// disjoint reports whether the neighbours are known, and others.
func (e evidence) disjoint() bool { return e.known >= 0.5 && e.similarity < 0.05 }

// strength grows with the agreement and with the number of neighbours that agree: one
// alone can be chance.
func (e evidence) strength() float64 {
	return e.similarity * (1 - math.Exp2(-e.shared)) * (0.5 + 0.5*e.known)
}

// spread adds up shares by group.
type spread struct {
	stamp      []uint32
	base, head []float64
	now        uint32
	groups     []int32
}

func (s *spread) reset(groups int) {
	if len(s.stamp) < groups {
		s.stamp = make([]uint32, 2*groups)
		s.base = make([]float64, 2*groups)
		s.head = make([]float64, 2*groups)
		s.now = 0
	}
	s.now++
	s.groups = s.groups[:0]
}

func (s *spread) touch(g int32) {
	if s.stamp[g] != s.now {
		s.stamp[g] = s.now
		s.base[g], s.head[g] = 0, 0
		s.groups = append(s.groups, g)
	}
}

// callerEvidence and calleeEvidence compare base function b with head function h.
func (m *matcher) callerEvidence(b, h int32) evidence {
	return m.compareEdges(b, h, m.base.callers[b], m.head.callers[h], m.base.outDegree, m.head.outDegree)
}

func (m *matcher) calleeEvidence(b, h int32) evidence {
	return m.compareEdges(b, h, m.base.callees[b], m.head.callees[h], m.base.inDegree, m.head.inDegree)
}

// least is the smallest share of the edges of a function that counts as a neighbour in
// common.
const least = 0.02

func (m *matcher) compareEdges(b, h int32, be, he []edge, baseDegree, headDegree []int32) evidence {
	if len(be) == 0 || len(he) == 0 {
		return evidence{oneSided: len(be) != len(he)}
	}
	s := &m.spread
	s.reset(len(m.parent))
	var baseMass, headMass float64
	for _, e := range be {
		if g := m.find(m.base.group[e.fn]); g >= 0 {
			s.touch(g)
			s.base[g] += e.share
			baseMass += e.share
		}
	}
	var ev evidence
	for _, e := range he {
		if g := m.find(m.head.group[e.fn]); g >= 0 {
			s.touch(g)
			s.head[g] += e.share
			headMass += e.share
		}
	}
	ev.known = min(1, max(baseMass, headMass))
	if baseMass == 0 || headMass == 0 {
		return ev
	}
	for _, g := range s.groups {
		ev.similarity += math.Sqrt(s.base[g] * s.head[g])
	}
	ev.similarity = min(1, ev.similarity/ev.known)
	for _, e := range be {
		g := m.find(m.base.group[e.fn])
		if g < 0 || s.base[g] < least || s.head[g] < least {
			continue
		}
		ev.shared += specificity(baseDegree[e.fn], m.base.dso[b] == m.base.dso[e.fn])
		s.base[g] = 0 // once
	}
	return ev
}

// specificity is what a neighbour in common counts, by how many neighbours of this
// kind it has. A neighbour in the same file counts twice as much as one in a library.
func specificity(degree int32, sameFile bool) float64 {
	// The logarithm to base 2 of half the degree, rounded down.
	w := 1 / float64(max(1, bits.Len32(uint32(degree))-1))
	if !sameFile {
		w /= 2
	}
	return w
}

// sourceOverlap compares the source lines: 0 if they are of different files or not
// known, else 0.3 or more, up to 1 if the ranges of lines are the same.
func (m *matcher) sourceOverlap(b, h int32) float64 {
	x, y := &m.base.fns[b], &m.head.fns[h]
	if x.File == "" || !sameSource(x.File, y.File) {
		return 0
	}
	const sameFile = 0.3
	lo1, hi1, ok1 := lineRange(x.Lines)
	lo2, hi2, ok2 := lineRange(y.Lines)
	if !ok1 || !ok2 {
		return sameFile
	}
	common := min(hi1, hi2) - max(lo1, lo2) + 1
	all := max(hi1, hi2) - min(lo1, lo2) + 1
	if common <= 0 || all <= 0 {
		return sameFile
	}
	return sameFile + (1-sameFile)*float64(common)/float64(all)
}

// sameSource compares paths by their last two elements: builds happen in different
// directories.
func sameSource(a, b string) bool { return lastElements(a) == lastElements(b) }

func lastElements(path string) string {
	slashes := 0
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			if slashes++; slashes == 2 {
				return path[i+1:]
			}
		}
	}
	return path
}

func lineRange(lines []Line) (lo, hi int64, ok bool) {
	for _, l := range lines {
		// Line 0 is unknown; greater lines than these do not exist.
		if l.Line <= 0 || l.Line > math.MaxInt32 {
			continue
		}
		if !ok {
			lo, hi, ok = l.Line, l.Line, true
		}
		lo, hi = min(lo, l.Line), max(hi, l.Line)
	}
	return lo, hi, ok
}
