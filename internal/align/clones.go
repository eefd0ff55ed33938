package align

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A cluster is the functions of one normalised name and file on both sides.
type cluster struct {
	base, head []unit
	// shifted is set if the numbers of functions that are only numbered mean
	// nothing, see matcher.shifted.
	shifted bool
}

// A unit is one function with its parts and clones: f, f.part.0 and f.cold.
type unit struct {
	// entity is name.entity, with the system name where that is ambiguous.
	entity  string
	members []int32 // the whole function first, heavy parts before light ones
}

// matchNormalized matches functions whose names differ in what compilers add. Lambdas
// and other functions that are only numbered are told apart by their neighbours,
// which are in part such functions themselves: so sure ones go first, in rounds.
func (m *matcher) matchNormalized() {
	pending := m.clusters()
	for i := range pending {
		pending[i].shifted = m.shifted(&pending[i])
	}
	// A function is known by its neighbours, those by theirs; what is still
	// open after these rounds is far from anything known.
	const rounds = 6
	for range rounds {
		before := len(m.matches)
		for i := range pending {
			m.matchUnits(&pending[i], true)
		}
		if len(m.matches) == before {
			break
		}
	}
	for i := range pending {
		if pending[i].shifted {
			m.matchInOrder(&pending[i])
		}
		m.matchUnits(&pending[i], false)
	}
	m.matchNormalizedMoved()
}

// clusters lists the clusters of both sides in which something is not matched yet,
// in the order of base.
func (m *matcher) clusters() []cluster {
	const wanted = -1
	at := make([]int, len(m.keys)) // index in members, +1
	for _, s := range [...]*side{m.base, m.head} {
		for i, g := range s.group {
			if g < 0 && !s.fns[i].Unknown {
				at[s.normalKey[i]] = wanted
			}
		}
	}
	var members [][2][]int32
	for k, s := range [...]*side{m.base, m.head} {
		for i, key := range s.normalKey {
			switch at[key] {
			case 0:
				continue
			case wanted:
				members = append(members, [2][]int32{})
				at[key] = len(members)
			}
			of := &members[at[key]-1][k]
			*of = append(*of, int32(i))
		}
	}
	var clusters []cluster
	for _, sides := range members {
		if len(sides[0]) > 0 && len(sides[1]) > 0 {
			ambiguous := m.base.sameNames(sides[0]) || m.head.sameNames(sides[1])
			clusters = append(clusters, cluster{base: m.base.units(sides[0], ambiguous), head: m.head.units(sides[1], ambiguous)})
		}
	}
	return clusters
}

// sameNames reports whether functions have the same full name, as generic functions of
// Rust have without their hash, and local functions of several source files.
func (s *side) sameNames(members []int32) bool {
	if len(members) < 2 {
		return false
	}
	seen := make(map[int32]bool, len(members))
	for _, x := range members {
		if seen[s.name[x]] {
			return true
		}
		seen[s.name[x]] = true
	}
	return false
}

// units sorts functions of one normalised name into units, heavy ones first. If the
// names are ambiguous, it tells functions apart by their system names.
func (s *side) units(members []int32, ambiguous bool) []unit {
	entity := func(x int32) string {
		if !ambiguous {
			return s.names[x].entity
		}
		system, _ := cutParts(s.fns[x].SystemName)
		return s.names[x].entity + "\x00" + system
	}
	slices.SortStableFunc(members, func(a, b int32) int {
		return cmp.Or(
			strings.Compare(entity(a), entity(b)),
			cmp.Compare(len(s.names[a].part), len(s.names[b].part)),
			-cmp.Compare(s.weight[a], s.weight[b]),
			strings.Compare(s.names[a].part, s.names[b].part),
		)
	})
	var units []unit
	for i, x := range members {
		if e := entity(x); i == 0 || e != units[len(units)-1].entity {
			units = append(units, unit{entity: e})
		}
		u := &units[len(units)-1]
		u.members = append(u.members, x)
	}
	heaviest := func(u *unit) float64 {
		var w float64
		for _, x := range u.members {
			w = max(w, s.weight[x])
		}
		return w
	}
	slices.SortStableFunc(units, func(a, b unit) int { return -cmp.Compare(heaviest(&a), heaviest(&b)) })
	return units
}

const (
	// sameNumber is what the number that the compiler chose counts: less than
	// neighbours that agree, more than noise in them.
	sameNumber = 0.3
	// sureMargin is by how much a pair must be better than all others of
	// either unit to be taken while neighbours are still open.
	sureMargin = 0.25
)

// matchUnits matches the units of a cluster, in the end all that nothing speaks
// against, before only the sure ones.
func (m *matcher) matchUnits(c *cluster, sure bool) {
	doneBase, doneHead := m.pairedUnits(c)
	pairs := m.unitPairs(c, doneBase, doneHead, sure)
	margin := 0.0
	if sure {
		margin = sureMargin
	}
	assign(pairs, margin, func(p scored) bool {
		u, v := &c.base[p.base], &c.head[p.head]
		if sure && u.entity == v.entity && (m.open(m.base, u.members[0]) || m.open(m.head, v.members[0])) {
			return false
		}
		m.matchMembers(u, v, m.unitConfidence(c, p))
		return true
	})
}

// open reports whether most of the callers or callees of a function are not matched
// yet.
func (m *matcher) open(s *side, i int32) bool {
	for _, edges := range [...][]edge{s.callers[i], s.callees[i]} {
		var unknown float64
		for _, e := range edges {
			if s.group[e.fn] < 0 && !s.fns[e.fn].Unknown {
				unknown += e.share
			}
		}
		if unknown > 0.5 {
			return true
		}
	}
	return false
}

// pairedUnits finds the units of which members are matched with each other, and
// matches their other members.
func (m *matcher) pairedUnits(c *cluster) (doneBase, doneHead []bool) {
	doneBase, doneHead = make([]bool, len(c.base)), make([]bool, len(c.head))
	var unitOf map[int32]int // group to unit of head
	for j := range c.head {
		for _, h := range c.head[j].members {
			if g := m.find(m.head.group[h]); g >= 0 {
				if unitOf == nil {
					unitOf = make(map[int32]int)
				}
				if _, ok := unitOf[g]; !ok {
					unitOf[g] = j
				}
				doneHead[j] = true
			}
		}
	}
	for i := range c.base {
		for _, b := range c.base[i].members {
			g := m.find(m.base.group[b])
			if g < 0 {
				continue
			}
			doneBase[i] = true
			if j, ok := unitOf[g]; ok {
				m.matchMembers(&c.base[i], &c.head[j], partConfidence)
				break
			}
		}
	}
	return doneBase, doneHead
}

// unitPairs lists the possible pairs of units: all, or only those that neighbours speak
// for.
func (m *matcher) unitPairs(c *cluster, doneBase, doneHead []bool, sure bool) []scored {
	var pairs []scored
	hasBase, hasHead := entities(c.base), entities(c.head)
	add := func(i, j int) {
		b, h := c.base[i].members[0], c.head[j].members[0]
		named := c.base[i].entity == c.head[j].entity
		callers, callees := m.callerEvidence(b, h), m.calleeEvidence(b, h)
		like := likeness(callers, callees)
		if !named && !m.canRenumber(c, i, j, hasBase[c.head[j].entity] || hasHead[c.base[i].entity]) {
			return
		}
		if !named && callers.disjoint() && callees.disjoint() || !named && like < 0.05 && (callers.disjoint() || callees.disjoint()) {
			return
		}
		score := like + 0.2*m.sourceOverlap(b, h)
		if named && !c.shifted {
			score += sameNumber
		}
		if like > 0 || !sure {
			pairs = append(pairs, scored{int32(i), int32(j), score})
		}
	}
	var bs, hs []int
	for i := range c.base {
		if !doneBase[i] {
			bs = append(bs, i)
		}
	}
	for j := range c.head {
		if !doneHead[j] {
			hs = append(hs, j)
		}
	}
	const small = 32
	if len(bs) <= small && len(hs) <= small {
		for _, i := range bs {
			for _, j := range hs {
				add(i, j)
			}
		}
	} else {
		m.nearbyUnits(c, bs, hs, add)
	}
	return pairs
}

func entities(units []unit) map[string]bool {
	all := make(map[string]bool, len(units))
	for i := range units {
		all[units[i].entity] = true
	}
	return all
}

// certain is the share from which the neighbours of a function are more than chance.
const certain = 0.005

// canRenumber reports whether units of different names are heavy enough to be taken
// for one whose number changed, and not for two of which each was sampled on one
// side only. If the name of one of them is on the other side too, that takes more.
// Hashes of different builds are different anyway.
func (m *matcher) canRenumber(c *cluster, i, j int, otherHasName bool) bool {
	u, v := &c.base[i], &c.head[j]
	if withoutCounts(u.entity) != withoutCounts(v.entity) {
		return true
	}
	b, h := m.base.weight[u.members[0]], m.head.weight[v.members[0]]
	if otherHasName {
		return min(b, h) >= certain
	}
	return min(b, h) >= lightest && max(b, h) >= heavy
}

// withoutCounts removes the numbers with which compilers count: the short ones.
func withoutCounts(s string) string {
	const longest = 4
	var b strings.Builder
	for i := 0; i < len(s); {
		n := digits(s[i:])
		switch {
		case n == 0:
			b.WriteByte(s[i])
			n = 1
		case n > longest:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// place is a neighbour in one direction.
type place struct {
	group  int32
	caller bool
}

// places calls f for the matched neighbours of a function.
func (m *matcher) places(s *side, i int32, f func(place)) {
	for _, e := range s.callers[i] {
		if g := m.find(s.group[e.fn]); g >= 0 {
			f(place{g, true})
		}
	}
	for _, e := range s.callees[i] {
		if g := m.find(s.group[e.fn]); g >= 0 {
			f(place{g, false})
		}
	}
}

// nearbyUnits calls add for the pairs of a large cluster that share a name, a rank by
// weight, or a neighbour.
func (m *matcher) nearbyUnits(c *cluster, bs, hs []int, add func(i, j int)) {
	const most = 16 // units listed at a neighbour
	near := make(map[place][]int)
	named := make(map[string]int)
	for _, j := range hs {
		named[c.head[j].entity] = j
		m.places(m.head, c.head[j].members[0], func(p place) {
			if len(near[p]) < most {
				near[p] = append(near[p], j)
			}
		})
	}
	seen := make(map[int]bool)
	for rank, i := range bs {
		clear(seen)
		try := func(j int) {
			if !seen[j] && len(seen) < 4*most {
				seen[j] = true
				add(i, j)
			}
		}
		if j, ok := named[c.base[i].entity]; ok {
			try(j)
		}
		if rank < len(hs) {
			try(hs[rank])
		}
		m.places(m.base, c.base[i].members[0], func(p place) {
			for _, j := range near[p] {
				try(j)
			}
		})
	}
}

// likeness is the mean similarity in the directions that are known. Neighbours on one
// side only speak against a pair, though less than others do: they may not have been
// sampled.
func likeness(callers, callees evidence) float64 {
	const oneSided = 0.7
	var sum, known float64
	for _, e := range [...]evidence{callers, callees} {
		sum += e.known * e.similarity
		known += e.known
		if e.oneSided {
			known += oneSided
		}
	}
	if known == 0 {
		return 0
	}
	return sum / known
}

const (
	// partConfidence is for parts and clones of a function: f.cold is of f.
	partConfidence = 0.98
	// soleConfidence is for the only function of a normalised name.
	soleConfidence = 0.95
)

// unitConfidence is higher the fewer other units there were, and the more the
// neighbours agree.
func (m *matcher) unitConfidence(c *cluster, p scored) float64 {
	u, v := &c.base[p.base], &c.head[p.head]
	if u.entity == v.entity {
		return partConfidence
	}
	b, h := u.members[0], v.members[0]
	like := likeness(m.callerEvidence(b, h), m.calleeEvidence(b, h))
	switch {
	case len(c.base) > 1 || len(c.head) > 1, withoutCounts(u.entity) == withoutCounts(v.entity):
		return 0.5 + 0.4*like
	case like > 0:
		return soleConfidence
	}
	return 0.85
}

// matchMembers matches what is open of two units that are the same: first equal parts,
// then parts of one kind by weight, and then each that is left with the counterpart
// of the function it was made of.
func (m *matcher) matchMembers(u, v *unit, confidence float64) {
	if m.otherClones(u, v) {
		// Which clone became which cannot be known: all are the function.
		for _, b := range m.base.openOf(u.members) {
			m.pairPart(b, v.members[0], confidence)
		}
		for _, h := range m.head.openOf(v.members) {
			m.pairPart(u.members[0], h, confidence)
		}
		return
	}
	for _, of := range [...]func(s *side, x int32) string{
		func(s *side, x int32) string { return s.names[x].part + "\x00" + s.fns[x].File },
		func(s *side, x int32) string { return s.names[x].part },
		func(s *side, x int32) string { return partKind(s.names[x].part) },
	} {
		inTurn(m.base.openOf(u.members), m.head.openOf(v.members), func(b int32) string { return of(m.base, b) }, func(h int32) string { return of(m.head, h) }, func(b, h int32) {
			m.pairNormalized(b, h, confidence)
		})
	}
	for _, b := range m.base.openOf(u.members) {
		h := counterpart(m.base, m.head, u, v, b)
		m.pair(b, h, Normalized, min(confidence, partConfidence), partReason(m.base, m.head, b, h))
	}
	for _, h := range m.head.openOf(v.members) {
		b := counterpart(m.head, m.base, v, u, h)
		m.pair(b, h, Normalized, min(confidence, partConfidence), partReason(m.head, m.base, h, b))
	}
}

// openOf lists the functions that are not matched of some.
func (s *side) openOf(members []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(members), func(i int32) bool { return s.group[i] >= 0 })
}

// manyClones is the share of a unit's weight from which clones that the other side
// does not have make the others doubtful.
const manyClones = 0.1

// otherClones reports whether clones of one kind have other numbers on the other side,
// while there are clones of much weight that it does not have at all.
func (m *matcher) otherClones(u, v *unit) bool {
	named, counts := make(map[string]int), make(map[string]int)
	for _, b := range u.members {
		named[m.base.names[b].part]++
		counts[partKind(m.base.names[b].part)]++
	}
	renumbered := false
	for _, h := range v.members {
		part := m.head.names[h].part
		kind := partKind(part)
		renumbered = renumbered || named[part] == 0 && counts[kind] > 0
		counts[kind]--
	}
	alone := func(s *side, members []int32, sign int) bool {
		var all, alone float64
		for _, x := range members {
			all += s.weight[x]
			if kind := partKind(s.names[x].part); counts[kind]*sign > 0 {
				counts[kind] -= sign
				alone += s.weight[x]
			}
		}
		return alone > 0 && alone >= manyClones*all
	}
	return renumbered && (alone(m.base, u.members, 1) || alone(m.head, v.members, -1))
}

// pairPart matches a part or clone with a function of the other side.
func (m *matcher) pairPart(b, h int32, confidence float64) {
	if m.base.key[b] == m.head.key[h] {
		m.pairSameName(b, h)
		return
	}
	m.pair(b, h, Normalized, min(confidence, partConfidence), partReason(m.base, m.head, b, h))
}

// counterpart finds the function of the other side that x was made of or became: the
// counterpart of the longest matched part that x is a part of, or the whole function.
func counterpart(own, other *side, u, v *unit, x int32) int32 {
	best, length := v.members[0], -1
	for _, y := range u.members {
		part := own.names[y].part
		if p := own.partner[y]; p >= 0 && y != x && len(part) > length && strings.HasPrefix(own.names[x].part, part) && slices.Contains(v.members, p) {
			best, length = p, len(part)
		}
	}
	return best
}

// pairNormalized matches two functions of the same normalised name.
func (m *matcher) pairNormalized(b, h int32, confidence float64) {
	if m.base.key[b] == m.head.key[h] {
		m.pairSameName(b, h)
		return
	}
	m.pair(b, h, Normalized, confidence, normalizedReason(m.base.fns[b].Name, m.head.fns[h].Name))
}

// matchNormalizedMoved matches functions of the same normalised name in different
// files, if each side has only one.
func (m *matcher) matchNormalizedMoved() {
	m.moved(m.base.normal, m.head.normal, func(b, h int32) {
		callers, callees := m.callerEvidence(b, h), m.calleeEvidence(b, h)
		like := likeness(callers, callees)
		if like < 0.05 && (callers.disjoint() || callees.disjoint()) {
			return
		}
		m.pair(b, h, Normalized, 0.7+0.2*like, fmt.Sprintf("%s, from %q to %q", normalizedReason(m.base.fns[b].Name, m.head.fns[h].Name), m.base.fns[b].DSO, m.head.fns[h].DSO))
	})
}

// partReason says what joins function x, of a part, with y of the other side.
func partReason(own, other *side, x, y int32) string {
	if part := cmp.Or(own.names[x].part, other.names[y].part); part != "" {
		return strings.TrimSpace(part) + " is part of the function"
	}
	return normalizedReason(own.fns[x].Name, other.fns[y].Name)
}

// normalizedReason names what the normalised names lack.
func normalizedReason(base, head string) string {
	if base == head {
		return "same name"
	}
	for _, what := range [...]struct{ mark, reason string }{
		{".llvm.", "same name without .llvm.N"},
		{".lto_priv.", "same name without .lto_priv.N"},
		{".__uniq.", "same name without .__uniq.N"},
		{".constprop.", "same name without .constprop.N"},
		{".isra.", "same name without .isra.N"},
		{".part.", "same name without .part.N"},
		{".cold", "same name without .cold"},
		{"lambda", "same name but for the number of the lambda"},
		{"Lambda", "same name but for the number of the lambda"},
		{"$_", "same name but for the number of the lambda"},
		{"closure", "same name but for the number of the closure"},
		{".func", "same name but for the number of the closure"},
		{"$$ExternalSynthetic", "same name but for the number of the class"},
		{"$", "same name but for the number of the class"},
		{"::h", "same name without hash"},
		{"(anonymous namespace)", "same name without (anonymous namespace)"},
		{"{anonymous}", "same name without (anonymous namespace)"},
		{"[abi:", "same name without ABI tag"},
	} {
		// The marks of both sides, of which the numbers differ, or the mark
		// of one.
		if strings.Contains(base, what.mark) || strings.Contains(head, what.mark) {
			return what.reason
		}
	}
	return "same name but for what compilers add"
}
