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
	lightest = 0.001
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
	words vocabulary
	base  bareNames
	head  bareNames
	// count is how many functions of a bare name each side has.
	count map[string][2]int
	// sorted are the distinct bare names of both sides.
	sorted []string
	// own is how many bare names end in an own name, such as "run".
	own map[string]int
	// scopes are the classes, packages and namespaces of each side.
	scopes map[string][2]bool
	// byWord and byBare list functions of head.
	byWord map[int32][]int32
	byBare map[string][]int32
	// candidates are the pairs of each function of base that may be matches.
	candidates [][]scored
	// votes are for functions of head; see score.
	votes []float64
}

// bareNames are the names of one side, by function.
type bareNames struct {
	bare []string
	// words and scope are of functions that are not matched only. The scope
	// tells on which sides there is one of that name.
	words [][]word
	scope [][2]bool
}

// matchSimilar matches functions that only one side has, by all that is known: their
// callers and callees as far as those are matched, the words of their names, their
// source lines. Each match tells more about the neighbours, so it goes in rounds. Then it
// matches one function with several.
func (m *matcher) matchSimilar() {
	bs, hs := m.base.unmatched(), m.head.unmatched()
	if len(bs) == 0 && len(hs) == 0 {
		return
	}
	s := newSimilar(m, bs, hs)
	s.matchPairs(bs, hs)
	s.matchSplits()
}

// matchPairs matches in rounds.
func (s *similar) matchPairs(bs, hs []int32) {
	if len(bs) == 0 || len(hs) == 0 {
		return
	}
	m := s.matcher
	dirty := make([]bool, len(m.base.fns))
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
		assign(pairs, margin, func(p scored) bool {
			if p.score < floor {
				return false
			}
			matched = true
			kind, reason := s.explain(p)
			m.pair(p.base, p.head, kind, math.Round(100*min(highest, p.score))/100, reason)
			for _, edges := range [...][]edge{m.base.callers[p.base], m.base.callees[p.base]} {
				for _, e := range edges {
					dirty[e.fn] = true
				}
			}
			return true
		})
		if !matched {
			return
		}
	}
}

// maxUnmatched bounds the functions of a side that are matched by similarity. There
// cannot be more of weight unless stacks are very deep.
const maxUnmatched = 20_000

// unmatched lists the functions that can be matched by similarity, heavy ones first.
func (s *side) unmatched() []int32 {
	list := s.open(func(i int32) bool {
		return !s.fns[i].Unknown && s.fns[i].Name != "" && s.weight[i] >= lightest
	})
	slices.SortStableFunc(list, func(a, b int32) int { return -cmp.Compare(s.weight[a], s.weight[b]) })
	return list[:min(len(list), maxUnmatched)]
}

func newSimilar(m *matcher, bs, hs []int32) *similar {
	s := &similar{
		matcher: m,
		words:   vocabulary{ids: make(map[string]int32)},
		count:   make(map[string][2]int),
		own:     make(map[string]int),
		scopes:  make(map[string][2]bool),
		byWord:  make(map[int32][]int32), byBare: make(map[string][]int32),
		candidates: make([][]scored, len(m.base.fns)),
		votes:      make([]float64, len(m.head.fns)),
	}
	for k, side := range [...]*side{m.base, m.head} {
		bare := make([]string, len(side.fns))
		for i := range bare {
			bare[i] = bareName(side.names[i].normal)
			n := s.count[bare[i]]
			n[k]++
			s.count[bare[i]] = n
			in := s.scopes[scope(bare[i])]
			if !in[k] {
				in[k] = true
				s.scopes[scope(bare[i])] = in
			}
		}
		names := [...]*bareNames{&s.base, &s.head}[k]
		*names = bareNames{bare, make([][]word, len(bare)), make([][2]bool, len(bare))}
		for _, i := range [...][]int32{bs, hs}[k] {
			names.words[i] = s.words.read(bare[i])
		}
	}
	for _, b := range bs {
		s.base.scope[b] = s.scopes[scope(s.base.bare[b])]
	}
	for _, h := range hs {
		bare := s.head.bare[h]
		s.head.scope[h] = s.scopes[scope(bare)]
		s.byBare[bare] = append(s.byBare[bare], h)
		for _, w := range s.head.words[h] {
			if !s.words.short[w.id] {
				s.byWord[w.id] = append(s.byWord[w.id], h)
			}
		}
	}
	s.words.weigh()
	s.sorted = make([]string, 0, len(s.count))
	for bare := range s.count {
		s.own[bare[lastComponent(bare):]]++
		s.sorted = append(s.sorted, bare)
	}
	slices.Sort(s.sorted)
	return s
}

// scope is the class, package or namespace of a bare name.
func scope(bare string) string { return bare[:lastComponent(bare)] }

// twoScopes reports whether b and h are of different classes, or packages, that
// both sides have: none was renamed to the other.
func (s *similar) twoScopes(b, h int32) bool {
	both := [2]bool{true, true}
	return s.base.scope[b] == both && s.head.scope[h] == both && scope(s.base.bare[b]) != scope(s.head.bare[h])
}

// scopeRenamed reports whether b and h have the same name in a class, or package, that
// only base has, and one that only head has, and no other class has it.
func (s *similar) scopeRenamed(b, h int32) bool {
	x, y := s.base.bare[b], s.head.bare[h]
	i, j := lastComponent(x), lastComponent(y)
	return i > 0 && j > 0 && x[i:] == y[j:] && s.own[x[i:]] == 2 && s.base.scope[b] == [2]bool{true, false} && s.head.scope[h] == [2]bool{false, true}
}

// siblings reports whether a third function has a name that differs from b and h where
// these two differ from each other: a name that people gave to tell
// functions apart (allocValueSlice, allocLimitSlice) does not say that they are the
// same.
func (s *similar) siblings(b, h int32) bool {
	x, y := s.base.bare[b], s.head.bare[h]
	n := commonPrefix(x, y)
	// Widths and words that start alike are compared as a whole.
	for n > 0 && (n < len(x) && isWordByte(x[n]) && sameWord(x, n) || n < len(y) && isWordByte(y[n]) && sameWord(y, n)) {
		n--
	}
	suffix := commonSuffix(x[n:], y[n:])
	prefix, end := x[:n], x[len(x)-suffix:]
	if n <= lastComponent(x) && len(end) == 0 {
		return false // another name altogether
	}
	const most = 256
	i, _ := slices.BinarySearch(s.sorted, prefix)
	for _, z := range s.sorted[i:min(len(s.sorted), i+most)] {
		if !strings.HasPrefix(z, prefix) {
			return false
		}
		if z != x && z != y && len(z) >= len(prefix)+len(end) && strings.HasSuffix(z, end) {
			return true
		}
	}
	return false
}

// sameWord reports whether no word starts at s[i].
func sameWord(s string, i int) bool {
	if !isWordByte(s[i-1]) || s[i-1] == '_' {
		return false
	}
	start := i - 1
	for start > 0 && isWordByte(s[start-1]) && s[start-1] != '_' {
		start--
	}
	for start < i {
		start = wordEnd(s, start)
	}
	return start > i
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

const (
	// maxListed bounds the functions that are looked up by one neighbour or word:
	// those with more say nothing.
	maxListed = 48
	// maxCandidates bounds the functions that one is compared with.
	maxCandidates = 64
)

// score finds candidates for the dirty base functions and scores them.
func (s *similar) score(bs, hs []int32, dirty []bool) {
	near := make(map[place][]int32)
	for _, h := range hs {
		if s.matcher.head.group[h] < 0 {
			s.places(s.matcher.head, h, func(p place) {
				if len(near[p]) <= maxListed {
					near[p] = append(near[p], h)
				}
			})
		}
	}
	var found []int32
	// vote gives one vote, shared by all on a list, to each that is possible.
	vote := func(list []int32) {
		for _, h := range list[:min(len(list), maxListed)] {
			if s.matcher.head.group[h] >= 0 {
				continue
			}
			if s.votes[h] == 0 {
				found = append(found, h)
			}
			s.votes[h] += 1 / float64(len(list))
		}
	}
	for _, b := range bs {
		if !dirty[b] || s.matcher.base.group[b] >= 0 {
			continue
		}
		found = found[:0]
		s.places(s.matcher.base, b, func(p place) { vote(near[p]) })
		for _, w := range s.base.words[b] {
			vote(s.byWord[w.id])
		}
		vote(s.byBare[s.base.bare[b]])
		if len(found) > maxCandidates {
			slices.SortFunc(found, func(x, y int32) int {
				return cmp.Or(-cmp.Compare(s.votes[x], s.votes[y]), cmp.Compare(x, y))
			})
		}
		pairs := s.candidates[b][:0]
		for i, h := range found {
			s.votes[h] = 0
			if i >= maxCandidates {
				continue
			}
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
	base, head := s.matcher.base, s.matcher.head
	if max(base.weight[b], head.weight[h]) < heavy {
		return comparison{}
	}
	var c comparison
	bare := s.base.bare[b]
	if c.sameBare = bare == s.head.bare[h]; c.sameBare {
		c.name = 1
		if s.count[bare] != [2]int{1, 1} {
			// Which of the overloads or instances it is, its place must tell.
			c.name = 0.6
		}
	} else {
		x := s.words.similarity(s.base.words[b], s.head.words[h])
		c.name = x * math.Sqrt(x)
		switch {
		case s.scopeRenamed(b, h):
			c.name = max(c.name, 0.7)
		case c.name > 0.2 && (s.twoScopes(b, h) || s.siblings(b, h) || endsInClosure(bare) != endsInClosure(s.head.bare[h])):
			c.name /= 2
		case x > 0.4 && withoutEdition(bare) == withoutEdition(s.head.bare[h]):
			c.name = max(c.name, 0.85)
		}
	}
	c.source = s.sourceOverlap(b, h)
	c.callers, c.callees = s.callerEvidence(b, h), s.calleeEvidence(b, h)
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
	if base.dso[b] != head.dso[h] {
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
	case s.matcher.base.names[p.base].normal == s.matcher.head.names[p.head].normal:
		kind = Normalized
		why = append(why, normalizedReason(s.matcher.base.fns[p.base].Name, s.matcher.head.fns[p.head].Name))
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
