package align

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	// lightest is the share below which a function is not matched by similarity
	// on either side, heavy the one that it must have on one: what is lighter
	// is missing on the other side by chance, and its neighbours are not known.
	lightest = 0.0005
	heavy    = 0.002
	// floor is the least score of a match, margin how much better than any
	// other match of its functions it must be.
	floor  = 0.6
	margin = 0.05
	// highest is the confidence that similarity can give.
	highest = 0.97
)

// How much each kind of evidence counts, if it is perfect. None is enough alone, but for
// many neighbours or a name that differs in numbers only.
const (
	nameWeight   = 0.75
	calleeWeight = 0.8
	callerWeight = 0.6
	sourceWeight = 0.4
)

// similar is the state of the matching by similarity.
type similar struct {
	*matcher
	words      vocabulary
	baseWords  map[int32][]word
	headWords  map[int32][]word
	bareBase   map[int32]string
	bareHead   map[int32]string
	bareCount  map[string][2]int // functions of a bare name on each side
	byWord     map[int32][]int32 // heads
	byBare     map[string][]int32
	candidates map[int32][]scored
}

// matchSimilar matches functions that only one side has, by all that is known: their
// callers and callees as far as those are matched, the words of their names, their
// source lines. Each match tells more about the neighbours, so it goes in rounds.
func (m *matcher) matchSimilar() {
	bs, hs := m.base.unmatched(), m.head.unmatched()
	if len(bs) == 0 || len(hs) == 0 {
		return
	}
	s := newSimilar(m, bs, hs)
	dirty := make(map[int32]bool, len(bs))
	for _, b := range bs {
		dirty[b] = true
	}
	const rounds = 12
	for range rounds {
		s.score(bs, hs, dirty)
		clear(dirty)
		var pairs []scored
		for _, b := range bs {
			if m.base.group[b] >= 0 {
				continue
			}
			for _, p := range s.candidates[b] {
				if m.head.group[p.head] < 0 {
					pairs = append(pairs, p)
				}
			}
		}
		matched := false
		assign(pairs, margin, func(p scored) {
			if p.score < floor {
				return
			}
			matched = true
			kind, reason := s.explain(p)
			m.pair(int(p.base), int(p.head), kind, math.Round(100*min(highest, p.score))/100, reason)
			for _, edges := range [...][]edge{m.base.callers[p.base], m.base.callees[p.base]} {
				for _, e := range edges {
					dirty[e.fn] = true
				}
			}
		})
		if !matched {
			return
		}
	}
}

// unmatched lists the functions that can be matched by similarity, heavy ones first.
func (s *side) unmatched() []int32 {
	var list []int32
	for i := range s.fns {
		if s.group[i] < 0 && !s.fns[i].Unknown && s.fns[i].Name != "" && s.weight[i] >= lightest {
			list = append(list, int32(i))
		}
	}
	slices.SortStableFunc(list, func(a, b int32) int { return -cmp.Compare(s.weight[a], s.weight[b]) })
	return list
}

func newSimilar(m *matcher, bs, hs []int32) *similar {
	s := &similar{
		matcher:   m,
		words:     vocabulary{ids: make(map[string]int32)},
		baseWords: make(map[int32][]word), headWords: make(map[int32][]word),
		bareBase: make(map[int32]string), bareHead: make(map[int32]string),
		bareCount: make(map[string][2]int),
		byWord:    make(map[int32][]int32), byBare: make(map[string][]int32),
		candidates: make(map[int32][]scored),
	}
	for _, b := range bs {
		bare := bareName(m.base.names[b].normal)
		s.bareBase[b], s.baseWords[b] = bare, s.words.read(bare)
		s.bareCount[bare] = [2]int{}
	}
	for _, h := range hs {
		bare := bareName(m.head.names[h].normal)
		s.bareHead[h], s.headWords[h] = bare, s.words.read(bare)
		s.byBare[bare] = append(s.byBare[bare], h)
		for _, w := range s.headWords[h] {
			if !s.words.short[w.id] {
				s.byWord[w.id] = append(s.byWord[w.id], h)
			}
		}
	}
	for k, side := range [...]*side{m.base, m.head} {
		for i := range side.names {
			bare := bareName(side.names[i].normal)
			if n, ok := s.bareCount[bare]; ok {
				n[k]++
				s.bareCount[bare] = n
			}
		}
	}
	return s
}

const (
	// maxListed bounds the functions that are looked up by one neighbour or word:
	// those with more say nothing.
	maxListed = 48
	// maxCandidates bounds the functions that one is compared with.
	maxCandidates = 64
)

// score finds candidates for the dirty base functions and scores them.
func (s *similar) score(bs, hs []int32, dirty map[int32]bool) {
	near := make(map[place][]int32)
	for _, h := range hs {
		if s.head.group[h] < 0 {
			s.places(s.head, h, func(p place) {
				if len(near[p]) <= maxListed {
					near[p] = append(near[p], h)
				}
			})
		}
	}
	votes := make(map[int32]float64)
	var found []int32
	for _, b := range bs {
		if !dirty[b] || s.base.group[b] >= 0 {
			continue
		}
		clear(votes)
		vote := func(list []int32, all int) {
			for _, h := range list[:min(len(list), maxListed)] {
				if s.head.group[h] < 0 {
					votes[h] += 1 / float64(all)
				}
			}
		}
		s.places(s.base, b, func(p place) { vote(near[p], len(near[p])) })
		for _, w := range s.baseWords[b] {
			vote(s.byWord[w.id], len(s.byWord[w.id]))
		}
		vote(s.byBare[s.bareBase[b]], 1)
		found = found[:0]
		for h := range votes {
			found = append(found, h)
		}
		slices.SortFunc(found, func(x, y int32) int { return cmp.Or(-cmp.Compare(votes[x], votes[y]), cmp.Compare(x, y)) })
		pairs := s.candidates[b][:0]
		for _, h := range found[:min(len(found), maxCandidates)] {
			// Those just below the floor still leave a choice.
			if score := s.compare(b, h).score; score >= floor-margin {
				pairs = append(pairs, scored{b, h, score})
			}
		}
		s.candidates[b] = pairs
	}
}

// comparison is what speaks for a pair.
type comparison struct {
	sameBare         bool
	name, source     float64
	callers, callees evidence
	score            float64
}

// compare scores a pair: 0 to 1.
func (s *similar) compare(b, h int32) comparison {
	if max(s.base.weight[b], s.head.weight[h]) < heavy {
		return comparison{}
	}
	c := comparison{
		callers: s.callerEvidence(int(b), int(h)),
		callees: s.calleeEvidence(int(b), int(h)),
		source:  s.sourceOverlap(int(b), int(h)),
	}
	bare := s.bareBase[b]
	if c.sameBare = bare == s.bareHead[h]; c.sameBare {
		c.name = 1
		if s.bareCount[bare] != [2]int{1, 1} {
			// Which of the overloads or instances it is, its place must tell.
			c.name = 0.6
		}
	} else {
		x := s.words.similarity(s.baseWords[b], s.headWords[h])
		c.name = x * math.Sqrt(x)
	}
	against := (1 - nameWeight*c.name) *
		(1 - callerWeight*c.callers.strength()) *
		(1 - calleeWeight*c.callees.strength()) *
		(1 - sourceWeight*c.source*c.source)
	c.score = 1 - against
	if c.callers.disjoint() {
		c.score *= 0.7
	}
	if c.callees.disjoint() {
		c.score *= 0.8
	}
	if s.base.dso[b] != s.head.dso[h] {
		c.score *= 0.85
	}
	return c
}

// explain says of which kind a match is, and why it was made.
func (s *similar) explain(p scored) (Kind, string) {
	c := s.compare(p.base, p.head)
	kind := Renamed
	var why []string
	switch {
	case s.base.names[p.base].normal == s.head.names[p.head].normal:
		kind = Normalized
		why = append(why, normalizedReason(s.base.fns[p.base].Name, s.head.fns[p.head].Name))
	case c.sameBare:
		kind = Normalized
		why = append(why, "same name but for template arguments or parameters")
	case c.name >= 0.3:
		why = append(why, "similar name")
	}
	const alike = 0.7
	callers := c.callers.similarity >= alike && c.callers.shared > 0
	callees := c.callees.similarity >= alike && c.callees.shared > 0
	switch {
	case callers && callees:
		why = append(why, "same callers and callees")
	case callers:
		why = append(why, "same callers")
	case callees:
		why = append(why, "same callees")
	}
	switch {
	case c.source > alike:
		why = append(why, "same source lines")
	case c.source > 0:
		why = append(why, "same source file")
	}
	if len(why) == 0 {
		return kind, "similar place in the call graph"
	}
	return kind, strings.Join(why, ", ")
}
