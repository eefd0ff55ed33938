package align

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Rename says that function Old of base is function New of head. Several functions
// may become one, and one may become several.
//
// A function is named by its full Name or SystemName; or without the suffixes of its
// parts and clones, which are then renamed with it; or by its normalised name; or
// without template arguments and parameters, which then means all functions of that
// name: those with equal parameters are paired, the others are one group.
type Rename struct{ Old, New string }

// ParseRename reads OLD=NEW. As names of C++ contain '=' themselves (operator=,
// operator==), it takes the '=' that leaves a whole name on either side, with all
// brackets closed and every other '=' in an operator or in brackets: the second of
// S::operator==S::assign, the third of S::operator===S::equal. Where that is not
// one, it is an error, and spaces around the '=' tell: "OLD = NEW".
func ParseRename(s string) (Rename, error) {
	const spaced = " = "
	if strings.Count(s, spaced) == 1 {
		before, after, _ := strings.Cut(s, spaced)
		r := Rename{strings.TrimSpace(before), strings.TrimSpace(after)}
		if r.Old == "" || r.New == "" {
			return Rename{}, fmt.Errorf("rename %.200q: want OLD=NEW", s)
		}
		return r, nil
	}
	// Each '=' is tried: only hostile input has so many that it takes long.
	const maxSigns = 64
	if strings.Count(s, "=") > maxSigns {
		return Rename{}, fmt.Errorf("rename %.200q: more than %d times '='", s, maxSigns)
	}
	var splits []int
	for i := range len(s) {
		if s[i] == '=' && isWholeName(s[:i]) && isWholeName(s[i+1:]) {
			splits = append(splits, i)
		}
	}
	switch len(splits) {
	case 1:
		i := splits[0]
		return Rename{strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:])}, nil
	case 0:
		if before, after, ok := strings.Cut(s, "="); ok && strings.TrimSpace(before) != "" && strings.TrimSpace(after) != "" {
			if !strings.Contains(after, "=") {
				return Rename{strings.TrimSpace(before), strings.TrimSpace(after)}, nil
			}
			return Rename{}, fmt.Errorf("rename %.200q: which '=' separates the names is not clear: write OLD = NEW with spaces", s)
		}
		return Rename{}, fmt.Errorf("rename %.200q: want OLD=NEW", s)
	}
	return Rename{}, fmt.Errorf("rename %.200q: which '=' separates the names is not clear: write OLD = NEW with spaces", s)
}

// isWholeName reports whether s can be the name of a function: not empty, brackets
// closed, no '=' outside of operators and brackets.
func isWholeName(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return false
	}
	var open []byte
	for i := 0; i < len(s); {
		if n := operatorAt(s, i); n > 0 {
			if n == len("operator") && strings.TrimSpace(s[i+n:]) == "" {
				return false
			}
			i += n
			continue
		}
		switch c := s[i]; c {
		case '(', '[', '{', '<':
			open = append(open, c)
		case ')', ']', '}', '>':
			if c == '>' && i > 0 && s[i-1] == '-' {
				break // ->
			}
			if len(open) == 0 || !closes(open[len(open)-1], c) {
				return false
			}
			open = open[:len(open)-1]
		case '=':
			if len(open) == 0 {
				return false
			}
		}
		i++
	}
	return len(open) == 0
}

func closes(open, end byte) bool {
	switch open {
	case '(':
		return end == ')'
	case '[':
		return end == ']'
	case '{':
		return end == '}'
	case '<':
		return end == '>'
	}
	return false
}

// operatorAt returns the length of "operator" and the symbols after it at s[i:], 0
// if there is no such word.
func operatorAt(s string, i int) int {
	const word = "operator"
	if s[i] != 'o' || !strings.HasPrefix(s[i:], word) || i > 0 && isWordByte(s[i-1]) || wordAt(s, i+len(word)) {
		return 0
	}
	rest := s[i+len(word):]
	// Longer symbols first.
	for _, symbol := range [...]string{
		"<<=", ">>=", "<=>", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->",
		"<", ">", "=", "!", "~", "+", "-", "*", "/", "%", "^", "&", "|", ",",
	} {
		if strings.HasPrefix(rest, symbol) {
			return len(word) + len(symbol)
		}
	}
	return len(word)
}

// unknownFunction is the error of a rename of a function that a side does not have, with up
// to three names of that side, the most similar first.
func unknownFunction(s *side, called string) error {
	var msg strings.Builder
	msg.WriteString(fmt.Sprintf("rename: %s has no function %.200q", s.label, called))
	for i, n := range s.nearest(called) {
		msg.WriteString(fmt.Sprintf("%s%.200q", [...]string{"; nearest: ", ", "}[min(i, 1)], n))
	}
	return errors.New(msg.String())
}

// userReason is the reason of matches that the user made.
const userReason = "--rename"

// rename matches what the user says.
func (m *matcher) rename(renames []Rename) error {
	if len(renames) == 0 {
		return nil
	}
	baseNames, headNames := newIndex(m.base), newIndex(m.head)
	paired := make(map[[2]int32]bool)
	for _, r := range renames {
		if r.Old == "" || r.New == "" {
			return errors.New("rename: empty name")
		}
		bs, hs := baseNames.find(r.Old), headNames.find(r.New)
		if len(bs) == 0 {
			return unknownFunction(m.base, r.Old)
		}
		if len(hs) == 0 {
			return unknownFunction(m.head, r.New)
		}
		for _, p := range m.renamedPairs(bs, hs) {
			if !paired[p] {
				paired[p] = true
				m.pair(p[0], p[1], Renamed, 1, userReason)
			}
		}
	}
	return nil
}

// renamedPairs pairs each function of both lists with at least one of the other:
// first those that are the same part with the same parameters, in the same file if
// possible, then the others with the first of the other side.
func (m *matcher) renamedPairs(bs, hs []int32) [][2]int32 {
	type id struct {
		part, parameters string
		dso              int32
	}
	of := func(s *side, i int32) id {
		n := &s.names[i]
		return id{n.part, strings.TrimPrefix(n.entity, leadingName(n.entity)), s.dso[i]}
	}
	var pairs [][2]int32
	doneBase, doneHead := make(map[int32]bool), make(map[int32]bool)
	for _, sameFile := range [...]bool{true, false} {
		key := func(s *side) func(int32) id {
			return func(i int32) id {
				k := of(s, i)
				if !sameFile {
					k.dso = 0
				}
				return k
			}
		}
		left := func(list []int32, done map[int32]bool) []int32 {
			return slices.DeleteFunc(slices.Clone(list), func(i int32) bool { return done[i] })
		}
		inTurn(left(bs, doneBase), left(hs, doneHead), key(m.base), key(m.head), func(b, h int32) {
			doneBase[b], doneHead[h] = true, true
			pairs = append(pairs, [2]int32{b, h})
		})
	}
	for _, b := range bs {
		if !doneBase[b] {
			pairs = append(pairs, [2]int32{b, hs[0]})
		}
	}
	for _, h := range hs {
		if !doneHead[h] {
			pairs = append(pairs, [2]int32{bs[0], h})
		}
	}
	return pairs
}

// index finds the functions of a side by what users call them.
type index struct {
	s *side
	// grades are from the full to the bare name, made when needed.
	grades [4]map[string][]int32
}

func newIndex(s *side) *index { return &index{s: s} }

// find returns the functions that are called so, at the first grade at which there
// are any: whole functions before their parts, heavy ones first.
func (x *index) find(called string) []int32 {
	grades := [len(x.grades)]func(i int) [2]string{
		func(i int) [2]string { return [2]string{x.s.fns[i].Name, x.s.fns[i].SystemName} },
		func(i int) [2]string { return [2]string{x.s.names[i].entity} },
		func(i int) [2]string { return [2]string{x.s.names[i].normal} },
		func(i int) [2]string { return [2]string{bareName(x.s.names[i].normal)} },
	}
	var found []int32
	for g, of := range grades {
		if x.grades[g] == nil {
			x.grades[g] = make(map[string][]int32)
			for i := range x.s.fns {
				if g > 0 && x.s.fns[i].Unknown {
					continue
				}
				names := of(i)
				for j, n := range names {
					if n != "" && (j == 0 || n != names[0]) {
						x.grades[g][n] = append(x.grades[g][n], int32(i))
					}
				}
			}
		}
		found = append(found, x.grades[g][called]...)
		// A whole function brings its parts along.
		if len(found) > 0 && (g > 0 || x.s.names[found[0]].part != "") {
			break
		}
	}
	slices.SortFunc(found, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(len(x.s.names[a].part), len(x.s.names[b].part)),
			-cmp.Compare(x.s.weight[a], x.s.weight[b]),
			cmp.Compare(a, b),
		)
	})
	return slices.Compact(found)
}

// nearest returns the names of the side that are most like one.
func (s *side) nearest(called string) []string {
	const most = 3
	type candidate struct {
		name  string
		score float64
	}
	want := newBigrams(bareName(Normalize(called)))
	var best []candidate
	seen := make(map[string]bool)
	for i := range s.fns {
		n := s.fns[i].Name
		if s.fns[i].Unknown || n == "" || seen[n] {
			continue
		}
		seen[n] = true
		if score := want.dice(bareName(s.names[i].normal)); score > 0 {
			best = append(best, candidate{n, score})
		}
	}
	slices.SortFunc(best, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range best[:min(most, len(best))] {
		names = append(names, c.name)
	}
	return names
}

// bigrams are the pairs of neighbouring bytes of a name.
type bigrams struct {
	count [1 << 16]int16
	n     int
}

// longestCompared bounds how much of a name is compared: its end, where names differ.
const longestCompared = 200

func newBigrams(s string) *bigrams {
	b := new(bigrams)
	b.each(s, func(pair uint16) {
		b.count[pair]++
		b.n++
	})
	return b
}

func (*bigrams) each(s string, f func(pair uint16)) {
	lower := func(c byte) uint16 {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return uint16(c)
	}
	s = s[max(0, len(s)-longestCompared):]
	last := uint16(0)
	for i := range len(s) {
		f(last<<8 | lower(s[i]))
		last = lower(s[i])
	}
	f(last << 8)
}

// dice is the share of the pairs of both names that they have in common.
func (b *bigrams) dice(s string) float64 {
	common, n := 0, 0
	b.each(s, func(pair uint16) {
		if b.count[pair] > 0 {
			common++
		}
		b.count[pair]--
		n++
	})
	b.each(s, func(pair uint16) { b.count[pair]++ })
	return 2 * float64(common) / float64(b.n+n)
}
