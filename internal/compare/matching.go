package compare

import (
	"cmp"
	"regexp"
	"slices"

	"profdiff/internal/align"
)

// A Match says how a function was found on both sides.
type Match struct {
	// Kind is exact, normalized, renamed, moved, split, merged, added or removed.
	Kind       align.Kind
	Confidence float64 // 0 to 1
	Reason     string  // "" for exact
}

// A rowset gives every symbol of both sides the row in which it is counted. Symbols
// that are parts of one function share a row.
type rowset struct {
	base, head []int32 // row by symbol
	rows       []row
}

type row struct {
	match      Match
	base, head int32 // the symbol that names the row, -1 if the side has none
	// others are the further symbols of both sides.
	others [2][]int32
}

// matchSymbols aligns the symbols of both sides.
func matchSymbols(base, head *side, opt align.Options) (*rowset, error) {
	matches, err := align.Functions(base.facts, head.facts, opt)
	if err != nil {
		return nil, err
	}
	s := &rowset{base: make([]int32, len(base.symbols)), head: make([]int32, len(head.symbols))}
	rowOf := make(map[int]int32) // by group
	// The heaviest symbol of a side names the row, and the match of the heaviest
	// pair is the row's, unless the row is of several functions.
	weightOf := func(facts []align.Function, i int32) float64 {
		if i < 0 {
			return -1
		}
		return facts[i].Weight
	}
	slices.SortStableFunc(matches, func(a, b align.Match) int {
		return -cmp.Compare(
			max(weightOf(base.facts, int32(a.Base)), 0)+max(weightOf(head.facts, int32(a.Head)), 0),
			max(weightOf(base.facts, int32(b.Base)), 0)+max(weightOf(head.facts, int32(b.Head)), 0))
	})
	for _, m := range matches {
		id, ok := rowOf[m.Group]
		if !ok {
			id = int32(len(s.rows))
			rowOf[m.Group] = id
			s.rows = append(s.rows, row{match: Match{m.Kind, m.Confidence, m.Reason}, base: -1, head: -1})
		}
		r := &s.rows[id]
		if m.Kind == align.Split || m.Kind == align.Merged {
			r.match = Match{m.Kind, m.Confidence, m.Reason}
		}
		if m.Base >= 0 {
			s.base[m.Base] = id
			if weightOf(base.facts, r.base) < base.facts[m.Base].Weight {
				r.base = int32(m.Base)
			}
		}
		if m.Head >= 0 {
			s.head[m.Head] = id
			if weightOf(head.facts, r.head) < head.facts[m.Head].Weight {
				r.head = int32(m.Head)
			}
		}
	}
	for k, rowOf := range [...][]int32{s.base, s.head} {
		for sym, id := range rowOf {
			if r := &s.rows[id]; int32(sym) != [...]int32{r.base, r.head}[k] {
				r.others[k] = append(r.others[k], int32(sym))
			}
		}
	}
	return s, nil
}

// match reports whether an expression matches a name of any row.
func (s *rowset) match(base, head *side, re *regexp.Regexp) bool {
	for i := range s.rows {
		if s.matches(base, head, i, []*regexp.Regexp{re}) {
			return true
		}
	}
	return false
}

// matches reports whether any expression matches a name of the row, also that of a part.
func (s *rowset) matches(base, head *side, i int, expressions []*regexp.Regexp) bool {
	r := &s.rows[i]
	for _, re := range expressions {
		if r.base >= 0 && base.functions[r.base].Means(re) || r.head >= 0 && head.functions[r.head].Means(re) {
			return true
		}
		for k, of := range [...]*side{base, head} {
			if slices.ContainsFunc(r.others[k], func(sym int32) bool { return of.functions[sym].Means(re) }) {
				return true
			}
		}
	}
	return false
}
