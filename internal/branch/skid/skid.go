// Package skid finds the branches that imprecise samples of misses may be of. The interrupt
// comes some instructions behind the branch, on the way that turned out to be right.
//
//  1. A [Walker] goes backwards from the address of a sample, through at most [Max]
//     instructions, over the edges of the control flow graph, into functions that were
//     called and back to callers. The branches on the way are [Candidate]s.
//  2. [Learn] finds how many instructions samples are behind their branches: the distances
//     that make the candidates of all samples most likely (expectation maximisation, over
//     the distances and not over the branches).
//  3. Candidates are ranked by that, by how often their block ran, and by how many branches
//     were crossed on the way.
//
// How often that is right is measured with recordings that tell the branch
// (internal/tools/skid/acceptance.md).
package skid

import (
	"cmp"
	"slices"

	"profdiff/internal/branch"
)

// A Skid is how often an imprecise sample is so many instructions behind its branch.
type Skid [Max + 1]float64

// What candidates are likely to be without regard to the distance.
const (
	// A conditional branch that was crossed on the way went one of two ways.
	crossedPart = 0.5
	// Returns are predicted by a stack of calls.
	returnPart = 0.05
)

// usual is assumed before samples tell more: each instruction is half as likely
// as the one before.
func usual() (s Skid) {
	p := 0.5
	for d := range s {
		s[d] = p
		p /= 2
	}
	return s
}

// Learn finds how far samples are behind their branches from samples alone: the
// distances that make the candidates of all samples most likely (expectation
// maximisation over the distances, not over the branches). sets are the candidates of
// places, weights the samples that each has.
func Learn(sets [][]Candidate, weights []float64) Skid {
	const rounds, doubt = 50, 20 // of which samples of the usual skid
	usual := usual()
	skid := usual
	for range rounds {
		next := usual
		sum := 0.0
		for d := range next {
			next[d] *= doubt
			sum += next[d]
		}
		for i, set := range sets {
			total := 0.0
			for k := range set {
				total += skid.likelihood(&set[k])
			}
			if total <= 0 {
				continue
			}
			for k := range set {
				next[set[k].Distance] += weights[i] * skid.likelihood(&set[k]) / total
			}
			sum += weights[i]
		}
		for d := range next {
			next[d] /= sum
		}
		skid = next
	}
	return skid
}

func (s *Skid) likelihood(c *Candidate) float64 {
	p := s[c.Distance] * (1 + c.Ran)
	for range c.Crossed {
		p *= crossedPart
	}
	if c.Kind == branch.Return {
		p *= returnPart
	}
	return p
}

// leastPart is how likely a candidate is at least.
const leastPart = 0.01

// Rank orders candidates by how likely each is the branch, sets their parts and leaves
// out candidates of less than 1 %.
func (s *Skid) Rank(set []Candidate) []Candidate {
	total := 0.0
	for i := range set {
		set[i].Part = s.likelihood(&set[i])
		total += set[i].Part
	}
	slices.SortStableFunc(set, func(a, b Candidate) int { return cmp.Compare(b.Part, a.Part) })
	rest := 0.0
	for len(set) > 1 && set[len(set)-1].Part < leastPart*total {
		rest += set[len(set)-1].Part
		set = set[:len(set)-1]
	}
	for i := range set {
		set[i].Part /= total - rest
	}
	return set
}

// Limits of confidences.
const (
	nearBranch    = 4 // instructions
	fewCandidates = 3
)

// Confide says how well the first of ranked candidates is known.
func Confide(set []Candidate) branch.Confidence {
	switch {
	case len(set) == 1 && set[0].Distance <= nearBranch:
		return branch.High
	case len(set) > 0 && len(set) <= fewCandidates && isNearest(set):
		return branch.Medium
	}
	return branch.Low
}

func isNearest(set []Candidate) bool {
	for i := range set {
		if set[i].Distance < set[0].Distance {
			return false
		}
	}
	return true
}
