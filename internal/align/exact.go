package align

import (
	"cmp"
	"slices"
	"strings"
)

// fileKey is a name in a file.
type fileKey struct {
	name    int32
	dso     int32
	unknown bool
}

// Files finds files that are the same under another name, by the name that head has: those
// that are known, and else the program that was built as app-old and as app-new, the library
// with its version. Such files have most of their functions in common and are on one side
// only.
func Files(base, head []Function, known map[string]string) map[string]string {
	same, taken := make(map[string]string), make(map[string]bool)
	for h, b := range known {
		same[h], taken[b] = b, true
	}
	baseNames, headNames := namesIn(base, head), namesIn(head, base)
	type candidate struct {
		base, head string
		common     int
	}
	var all []candidate
	// byName lists the files that only head has by the functions in them.
	byName := make(map[string][]string)
	for h, names := range headNames {
		if _, is := same[h]; is {
			continue
		}
		for n := range names {
			byName[n] = append(byName[n], h)
		}
	}
	if len(byName) == 0 {
		return same
	}
	for b, names := range baseNames {
		if taken[b] {
			continue
		}
		common := make(map[string]int)
		for n := range names {
			for _, h := range byName[n] {
				common[h]++
			}
		}
		for h, n := range common {
			// Two functions, as every program has a main.
			if n >= 2 && 2*n > min(len(names), len(headNames[h])) {
				all = append(all, candidate{b, h, n})
			}
		}
	}
	slices.SortFunc(all, func(x, y candidate) int {
		return cmp.Or(y.common-x.common, strings.Compare(x.base, y.base), strings.Compare(x.head, y.head))
	})
	for _, c := range all {
		if _, is := same[c.head]; !is && !taken[c.base] {
			taken[c.base] = true
			same[c.head] = c.base
		}
	}
	return same
}

// namesIn are the names of functions in each file that the others do not have.
func namesIn(functions, others []Function) map[string]map[string]bool {
	has := make(map[string]bool)
	for i := range others {
		has[others[i].DSO] = true
	}
	names := make(map[string]map[string]bool)
	for i := range functions {
		f := &functions[i]
		if f.Unknown || has[f.DSO] {
			continue
		}
		if names[f.DSO] == nil {
			names[f.DSO] = make(map[string]bool)
		}
		names[f.DSO][f.Name] = true
	}
	return names
}

// mergeDSOs makes files one that are the same. The stand-ins for what has no name in them
// are the same, too, though each is called after its file.
func (m *matcher) mergeDSOs(same map[string]string) {
	for h, f := range m.head.fns {
		if b, ok := same[f.DSO]; ok {
			m.head.dso[h] = m.dsos.of(b)
			if rest, is := strings.CutPrefix(f.Name, "["+f.DSO+"]"); is && f.Unknown {
				m.head.name[h] = m.names.of("[" + b + "]" + rest)
				m.head.normal[h] = m.head.name[h]
			}
		}
	}
}

// numberKeys numbers the names of both sides with their files.
func (m *matcher) numberKeys() {
	for _, s := range [...]*side{m.base, m.head} {
		s.key, s.normalKey = make([]int32, len(s.fns)), make([]int32, len(s.fns))
		for i := range s.fns {
			s.key[i] = m.keys.of(fileKey{s.name[i], s.dso[i], s.fns[i].Unknown})
			s.normalKey[i] = m.keys.of(fileKey{s.normal[i], s.dso[i], s.fns[i].Unknown})
		}
	}
}

// matchExact matches functions of the same name in the same file, if there is one on
// each side. Several that the name does not tell apart wait for matchNormalized, and so
// do names with a number that the compiler chose if there are others like them: after
// an edit another lambda can have the number.
func (m *matcher) matchExact() {
	crowded := m.crowded()
	heads := m.head.soleOf(m.head.key, len(m.keys), func(int32) bool { return true })
	bases := m.base.soleOf(m.base.key, len(m.keys), func(b int32) bool { return m.base.group[b] < 0 })
	for i, k := range m.base.key {
		b, h := int32(i), heads[k]
		if bases[k] == b && h >= 0 && !(m.base.numbered(b) && crowded[m.base.normalKey[b]]) {
			m.pairSameName(b, h)
		}
	}
	m.matchUnknown()
}

// matchUnknown matches the stand-ins that are there more than once, in their order.
func (m *matcher) matchUnknown() {
	unknown := func(s *side) []int32 { return s.open(func(i int32) bool { return s.fns[i].Unknown }) }
	inTurn(unknown(m.base), unknown(m.head), func(b int32) int32 { return m.base.key[b] }, func(h int32) int32 { return m.head.key[h] }, m.pairSameName)
}

func (m *matcher) pairSameName(b, h int32) {
	from, to := m.base.fns[b].DSO, m.head.fns[h].DSO
	if from == to {
		m.pair(b, h, Exact, 1, "")
	} else {
		m.pair(b, h, Moved, 1, "same name, "+quote(from)+" is now "+quote(to))
	}
}

// numbered reports whether the compiler had a part in the name. The first lambda of a
// function may have no number, but then it has a name that no source has.
func (s *side) numbered(i int32) bool {
	if s.names[i].numbered {
		return true
	}
	name := s.fns[i].Name
	return strings.Contains(name, "'lambda'") || strings.Contains(name, "'unnamed'") || strings.Contains(name, "_block_invoke")
}

// crowded finds the normalised names that several functions of a side have, by the number
// of the key.
func (m *matcher) crowded() []bool {
	crowded := make([]bool, len(m.keys))
	for _, s := range [...]*side{m.base, m.head} {
		first := make([]int32, len(m.keys)) // name, +1
		for i, k := range s.normalKey {
			switch {
			case !s.numbered(int32(i)):
			case first[k] == 0:
				first[k] = s.name[i] + 1
			case first[k] != s.name[i]+1:
				crowded[k] = true
			}
		}
	}
	return crowded
}

// matchMoved matches functions of the same name in different files if their neighbours do
// not speak against it.
func (m *matcher) matchMoved() {
	m.moved(m.base.name, m.head.name, func(b, h int32) {
		shared, known := m.namesakes(b, h)
		if known && !shared {
			return
		}
		confidence := 0.8
		if shared {
			confidence = 0.95
		}
		m.pair(b, h, Moved, confidence, "same name, from "+quote(m.base.fns[b].DSO)+" to "+quote(m.head.fns[h].DSO))
	})
}

// moved finds functions in different files that are the only ones of a name on their side,
// by the number of the name of each function.
func (m *matcher) moved(base, head []int32, found func(b, h int32)) {
	if !slices.Contains(m.base.group, -1) || !slices.Contains(m.head.group, -1) {
		return
	}
	sole := func(s *side, of []int32) []int32 {
		return s.soleOf(of, len(m.names), func(i int32) bool { return !s.fns[i].Unknown })
	}
	baseAt, headAt := sole(m.base, base), sole(m.head, head)
	for i, name := range base {
		b, h := int32(i), headAt[name]
		if h >= 0 && m.base.fns[b].Name != "" && baseAt[name] == b && m.base.group[b] < 0 && m.head.group[h] < 0 && m.base.dso[b] != m.head.dso[h] {
			found(b, h)
		}
	}
}

// soleOf lists for each of n numbers the only function that has it, of those that count:
// less than 0 if there is none or more than one.
func (s *side) soleOf(number []int32, n int, counts func(i int32) bool) []int32 {
	const none, several = -1, -2
	at := slices.Repeat([]int32{none}, n)
	for i, x := range number {
		switch {
		case !counts(int32(i)):
		case at[x] == none:
			at[x] = int32(i)
		default:
			at[x] = several
		}
	}
	return at
}

// namesakes reports whether two functions have a caller or callee of the same name,
// and whether both have any that could.
func (m *matcher) namesakes(b, h int32) (shared, known bool) {
	names := make(map[int32]bool)
	for _, edges := range [...][2][]edge{{m.base.callers[b], m.head.callers[h]}, {m.base.callees[b], m.head.callees[h]}} {
		clear(names)
		for _, e := range edges[0] {
			if f := &m.base.fns[e.fn]; !f.Unknown {
				names[m.base.name[e.fn]] = true
			}
		}
		other := false
		for _, e := range edges[1] {
			if f := &m.head.fns[e.fn]; !f.Unknown {
				other = true
				if names[m.head.name[e.fn]] {
					return true, true
				}
			}
		}
		known = known || other && len(names) > 0
	}
	return false, known
}

// quote marks a name in a reason.
func quote(s string) string { return "\"" + s + "\"" }
