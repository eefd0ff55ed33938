package align

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Plain is the name without what tells it apart from others in its file.
func (f *Function) Plain() string {
	if _, ok := f.stub(); ok {
		return "*ABS*@plt"
	}
	if f.Apart == "" {
		return f.Name
	}
	return strings.TrimSuffix(f.Name, "@"+f.Apart)
}

// stub is the address in the name of a stub that has no other: *ABS*+0x4eb780@plt.
func (f *Function) stub() (hex string, ok bool) {
	if hex, ok = strings.CutPrefix(f.Name, "*ABS*+"); ok {
		hex, ok = strings.CutSuffix(hex, "@plt")
	}
	return hex, ok
}

// address is the address that tells a function apart, if no file does.
func (f *Function) address() (uint64, bool) {
	hex, ok := f.stub()
	if !ok {
		hex = f.Apart
	}
	hex, ok = strings.CutPrefix(hex, "0x")
	if !ok {
		return 0, false
	}
	addr, err := strconv.ParseUint(hex, 16, 64)
	return addr, err == nil
}

// matchNamesakes matches local functions of one name where their names do not tell them
// apart on both sides:
//
//  1. By address, which means nothing in another build: if no address is on both sides and
//     there are as many on each, they are taken in their order; if there are not, nobody
//     knows which is which, and they are one group.
//  2. If one side has a single function of the name, which may be any of those that the other
//     tells apart, or all of them, they are one group.
func (m *matcher) matchNamesakes() {
	type namesakes struct{ base, head []int32 }
	groups := make(map[fileKey]*namesakes)
	var order []*namesakes
	for _, s := range [...]*side{m.base, m.head} {
		for i := range s.fns {
			if _, stub := s.fns[i].stub(); s.fns[i].Apart == "" && !stub {
				continue
			}
			k := fileKey{name: m.names.of(s.fns[i].Plain()), dso: s.dso[i]}
			if groups[k] == nil {
				groups[k] = &namesakes{}
				order = append(order, groups[k])
			}
		}
	}
	if len(order) == 0 {
		return
	}
	for i := range m.base.fns {
		if g := groups[fileKey{name: m.names.of(m.base.fns[i].Plain()), dso: m.base.dso[i]}]; g != nil && m.base.group[i] < 0 {
			g.base = append(g.base, int32(i))
		}
	}
	for i := range m.head.fns {
		if g := groups[fileKey{name: m.names.of(m.head.fns[i].Plain()), dso: m.head.dso[i]}]; g != nil && m.head.group[i] < 0 {
			g.head = append(g.head, int32(i))
		}
	}
	for _, g := range order {
		switch {
		case m.base.single(g.base) && len(g.head) > 1:
			m.pairAll(g.base, g.head, "base does not tell functions of this name apart")
		case m.head.single(g.head) && len(g.base) > 1:
			m.pairAll(g.base, g.head, "head does not tell functions of this name apart")
		default:
			m.matchByAddress(m.base.addressed(g.base), m.head.addressed(g.head))
		}
	}
}

// single reports whether functions are one that is not told apart.
func (s *side) single(functions []int32) bool {
	if len(functions) != 1 {
		return false
	}
	_, addressed := s.fns[functions[0]].address()
	return !addressed && s.fns[functions[0]].Apart == ""
}

// addressed lists the functions that their address tells apart, in its order.
func (s *side) addressed(functions []int32) []int32 {
	list := slices.DeleteFunc(slices.Clone(functions), func(i int32) bool {
		_, ok := s.fns[i].address()
		return !ok
	})
	slices.SortStableFunc(list, func(a, b int32) int {
		x, _ := s.fns[a].address()
		y, _ := s.fns[b].address()
		return cmp.Compare(x, y)
	})
	return list
}

// orderConfidence is for functions that their order matches: something may have been moved.
const orderConfidence = 0.8

func (m *matcher) matchByAddress(base, head []int32) {
	same := slices.ContainsFunc(base, func(b int32) bool {
		return slices.ContainsFunc(head, func(h int32) bool { return m.base.fns[b].Name == m.head.fns[h].Name })
	})
	switch {
	case len(base) == 0 || len(head) == 0:
	case len(base) != len(head):
		m.pairAll(base, head, "addresses of two builds do not tell which of the functions of this name is which")
	case same && slices.EqualFunc(base, head, func(b, h int32) bool { return m.base.fns[b].Name == m.head.fns[h].Name }):
		// One build: their names match.
	default:
		for i, b := range base {
			m.pair(b, head[i], Normalized, orderConfidence, "of the functions of this name, number "+strconv.Itoa(i+1)+" by address on both sides")
		}
	}
}

// pairAll makes all functions one group.
func (m *matcher) pairAll(base, head []int32, reason string) {
	for _, b := range base {
		m.pair(b, head[0], Normalized, partConfidence, reason)
	}
	for _, h := range head[1:] {
		m.pair(base[0], h, Normalized, partConfidence, reason)
	}
}
