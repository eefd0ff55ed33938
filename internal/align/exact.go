package align

import "slices"

// fileKey is a name in a file.
type fileKey struct {
	name    string
	dso     int32
	unknown bool
}

// mergeDSOs makes files that are the same under another name one: the program that
// was built as app-old and as app-new, the library with its version. Such files have
// most of their functions in common and are on one side only.
func (m *matcher) mergeDSOs() {
	baseNames, headNames := m.base.namesByDSO(), m.head.namesByDSO()
	type candidate struct{ base, head, common int }
	var all []candidate
	// byName lists the files that only head has by the functions in them.
	byName := make(map[string][]int32)
	for h, names := range headNames {
		if len(names) > 0 && (h >= len(baseNames) || len(baseNames[h]) == 0) {
			for _, n := range names {
				byName[n] = append(byName[n], int32(h))
			}
		}
	}
	if len(byName) == 0 {
		return
	}
	for b, names := range baseNames {
		if len(names) == 0 || len(headNames[b]) > 0 {
			continue
		}
		common := make(map[int32]int)
		for _, n := range names {
			for _, h := range byName[n] {
				common[h]++
			}
		}
		for h, n := range common {
			// Two functions, as every program has a main.
			if n >= 2 && 2*n > min(len(names), len(headNames[h])) {
				all = append(all, candidate{b, int(h), n})
			}
		}
	}
	slices.SortFunc(all, func(x, y candidate) int {
		if x.common != y.common {
			return y.common - x.common
		}
		if x.base != y.base {
			return x.base - y.base
		}
		return x.head - y.head
	})
	takenBase, same := make(map[int]bool), make(map[int32]int32)
	for _, c := range all {
		if _, taken := same[int32(c.head)]; !taken && !takenBase[c.base] {
			takenBase[c.base] = true
			same[int32(c.head)] = int32(c.base)
		}
	}
	for h, dso := range m.head.dso {
		if b, ok := same[dso]; ok {
			m.head.dso[h] = b
		}
	}
}

// namesByDSO lists the distinct names of functions in each file.
func (s *side) namesByDSO() [][]string {
	var n int32
	for _, dso := range s.dso {
		n = max(n, dso+1)
	}
	names := make([][]string, n)
	for i, dso := range s.dso {
		if !s.fns[i].Unknown {
			names[dso] = append(names[dso], s.fns[i].Name)
		}
	}
	for i := range names {
		slices.Sort(names[i])
		names[i] = slices.Compact(names[i])
	}
	return names
}

// matchExact matches functions of the same name in the same file. Names with a
// number that the compiler chose wait for matchNormalized if there are others like
// them: after an edit the number can be that of another lambda.
func (m *matcher) matchExact() {
	crowded := m.crowded()
	heads := make(map[fileKey][]int32, len(m.head.fns))
	for h := range m.head.fns {
		k := m.head.key(h)
		heads[k] = append(heads[k], int32(h))
	}
	var same [][2][]int32 // functions that the name does not tell apart
	seen := make(map[fileKey]int)
	for b := range m.base.fns {
		if m.base.group[b] >= 0 {
			continue
		}
		k := m.base.key(b)
		hs := heads[k]
		if len(hs) == 0 || m.base.numbered(b) && crowded[fileKey{name: m.base.names[b].normal, dso: m.base.dso[b]}] {
			continue
		}
		i, ok := seen[k]
		if !ok {
			i = len(same)
			seen[k] = i
			same = append(same, [2][]int32{nil, hs})
		}
		same[i][0] = append(same[i][0], int32(b))
	}
	for _, s := range same {
		m.matchSameName(s[0], s[1])
	}
}

// matchSameName pairs functions of one name and file: in turn those that agree in
// SystemName and File, in SystemName, in File, and those that are left.
func (m *matcher) matchSameName(bs, hs []int32) {
	if len(bs) == 1 && len(hs) == 1 {
		m.pairSameName(int(bs[0]), int(hs[0]))
		return
	}
	type id struct{ system, file string }
	for _, of := range [...]func(f *Function) id{
		func(f *Function) id { return id{f.SystemName, f.File} },
		func(f *Function) id { return id{system: f.SystemName} },
		func(f *Function) id { return id{file: f.File} },
		func(*Function) id { return id{} },
	} {
		free := make(map[id][]int32)
		for _, h := range hs {
			if m.head.group[h] < 0 {
				k := of(&m.head.fns[h])
				free[k] = append(free[k], h)
			}
		}
		for _, b := range bs {
			k := of(&m.base.fns[b])
			if list := free[k]; m.base.group[b] < 0 && len(list) > 0 {
				free[k] = list[1:]
				m.pairSameName(int(b), int(list[0]))
			}
		}
	}
}

func (m *matcher) pairSameName(b, h int) {
	from, to := m.base.fns[b].DSO, m.head.fns[h].DSO
	if from == to {
		m.pair(b, h, Exact, 1, "")
	} else {
		m.pair(b, h, Moved, 1, "same name, "+quote(from)+" is now "+quote(to))
	}
}

func (s *side) key(i int) fileKey {
	return fileKey{s.fns[i].Name, s.dso[i], s.fns[i].Unknown}
}

// numbered reports whether the compiler had a part in the name.
func (s *side) numbered(i int) bool {
	return s.names[i].normal != s.fns[i].Name
}

// crowded finds the normalised names that several functions of a side have.
func (m *matcher) crowded() map[fileKey]bool {
	crowded := make(map[fileKey]bool)
	for _, s := range [...]*side{m.base, m.head} {
		entity := make(map[fileKey]string)
		for i := range s.fns {
			if !s.numbered(i) || s.fns[i].Unknown {
				continue
			}
			k := fileKey{name: s.names[i].normal, dso: s.dso[i]}
			if first, ok := entity[k]; !ok {
				entity[k] = s.fns[i].Name
			} else if first != s.fns[i].Name {
				crowded[k] = true
			}
		}
	}
	return crowded
}

// matchMoved matches functions of the same name in different files, if each side
// has only one of that name and their neighbours do not speak against it.
func (m *matcher) matchMoved() {
	const twice = -2
	count := func(s *side) map[string]int {
		at := make(map[string]int)
		for i := range s.fns {
			if s.fns[i].Unknown {
				continue
			}
			if _, ok := at[s.fns[i].Name]; ok {
				at[s.fns[i].Name] = twice
			} else {
				at[s.fns[i].Name] = i
			}
		}
		return at
	}
	if !slices.Contains(m.base.group, -1) || !slices.Contains(m.head.group, -1) {
		return
	}
	baseAt, headAt := count(m.base), count(m.head)
	for b := range m.base.fns {
		name := m.base.fns[b].Name
		h, ok := headAt[name]
		if !ok || h < 0 || name == "" || baseAt[name] != b || m.base.group[b] >= 0 || m.head.group[h] >= 0 || m.base.dso[b] == m.head.dso[h] {
			continue
		}
		confidence := 0.8
		switch shared, known := m.namesakes(b, h); {
		case shared:
			confidence = 0.95
		case known:
			continue
		}
		m.pair(b, h, Moved, confidence, "same name, from "+quote(m.base.fns[b].DSO)+" to "+quote(m.head.fns[h].DSO))
	}
}

// namesakes reports whether two functions have a caller or callee of the same name,
// and whether both have any that could.
func (m *matcher) namesakes(b, h int) (shared, known bool) {
	names := make(map[string]bool)
	for _, edges := range [...][2][]edge{{m.base.callers[b], m.head.callers[h]}, {m.base.callees[b], m.head.callees[h]}} {
		clear(names)
		for _, e := range edges[0] {
			if f := &m.base.fns[e.fn]; !f.Unknown {
				names[f.Name] = true
			}
		}
		other := false
		for _, e := range edges[1] {
			if f := &m.head.fns[e.fn]; !f.Unknown {
				other = true
				if names[f.Name] {
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
