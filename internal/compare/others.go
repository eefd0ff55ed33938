package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/run"
	"profdiff/internal/slots"
)

// OtherFunctions is the row of the functions that have none of their own, see [Options.Most].
const OtherFunctions = "[other functions]"

// MostFunctions is a number of functions of which hardly a program has more in its recordings. Each takes
// kilobytes when it is compared.
const MostFunctions = 1 << 16

// gather makes one function of each side of those that cost least on both, if there are more than are compared one by
// one. What the user named is always one of these. Groups, which do not go by functions, have all of them.
func (c *Comparison) gather(pairs []eventPair) {
	opt := &c.Options
	if opt.Most == 0 || max(len(c.base.symbols), len(c.head.symbols)) <= opt.Most || len(opt.Renames) > 0 || len(opt.ReferenceDSO) > 0 {
		return
	}
	// A function goes by what no compiler changes in its name, so that it is in the same row on both sides.
	var numbers slots.Values[string]
	var names []string
	var shares [][2]float64 // by side
	var of [2][]int32       // names by side and symbol
	named := slices.Concat(opt.Focus, opt.Reference)
	sides := [2]*side{c.base, c.head}
	for k, s := range sides {
		of[k] = make([]int32, len(s.symbols))
		for id, share := range s.shares(pairs, k == 1) {
			n, known := numbers.Index(&names, align.Normalize(s.functions[id].Plain()))
			if !known {
				shares = append(slots.Room(shares), [2]float64{})
			}
			if id == 0 || slices.ContainsFunc(named, func(re *regexp.Regexp) bool { return s.functions[id].Means(re) }) {
				share = 2 // above all
			}
			of[k][id], shares[n][k] = int32(n), max(shares[n][k], share)
		}
	}
	// Each side has half of them: the functions of a long program must not push out those of a short one.
	other := slices.Repeat([]bool{true}, len(names))
	order := make([]int32, len(names))
	for k := range sides {
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(-cmp.Compare(shares[a][k], shares[b][k]), strings.Compare(names[a], names[b]))
		})
		for at, n := range order {
			if at <= opt.Most/2 || shares[n][k] > 1 { // one is [no stack]
				other[n] = false
			}
		}
	}
	for k, s := range sides {
		events, name, all := pairs[0].base, "base", len(s.symbols)
		if k == 1 {
			events, name = pairs[0].head, "head"
		}
		if n := s.gather(of[k], other); n > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s has %d functions: %d of those that cost least on both sides, together %.1f%% of %s, are compared as one, %s",
				name, all-1, n, 100*s.ownShare(events), pairs[0].name, OtherFunctions))
		}
	}
}

// shares are the largest shares that each symbol has with its callees, of any event.
func (s *side) shares(pairs []eventPair, head bool) []float64 {
	shares, weights := make([]float64, len(s.symbols)), make([]float64, len(s.symbols))
	outer := make(outermost, len(s.symbols))
	room := newSpent(s)
	for i := range pairs {
		events, total := pairs[i].base, 0.0
		if head {
			events = pairs[i].head
		}
		clear(weights)
		for k, r := range s.runs {
			p := &s.paths[k]
			spent := room.of(r, p, events[k])
			spent.addUp(p)
			total += float64(spent[0].Weight)
			outer.reset()
			for id := 1; id < p.len(); id++ {
				if symbol := p.symbol[id]; spent.has(id) && outer.is(p, id, symbol) {
					weights[symbol] += float64(spent[id].Weight)
				}
			}
		}
		for symbol, w := range weights {
			shares[symbol] = max(shares[symbol], w/max(total, 1))
		}
	}
	return shares
}

// gather makes one symbol, the last, of those whose names are in other, and returns how many they are.
func (s *side) gather(names []int32, other []bool) (n int) {
	to := make([]int32, len(s.symbols))
	var kept []symbol
	var functions []*run.Function
	for id := range s.symbols {
		if other[names[id]] {
			to[id] = -1
			n++
			continue
		}
		to[id] = int32(len(kept))
		kept, functions = append(kept, s.symbols[id]), append(functions, s.functions[id])
	}
	if n == 0 {
		return 0
	}
	last := int32(len(kept))
	kept = append(kept, symbol{name: OtherFunctions})
	s.functions = append(functions, &run.Function{Name: OtherFunctions, Unknown: true})
	s.ids, s.symbols = slots.Values[symbol]{}, nil
	for _, key := range kept {
		s.ids.Index(&s.symbols, key)
	}
	for i := range s.paths {
		list := s.paths[i].symbol
		for path, id := range list {
			if list[path] = to[id]; to[id] < 0 {
				list[path] = last
			}
		}
	}
	for i, calls := range s.calls {
		s.calls[i] = make(map[int32]int64)
		for id, n := range calls {
			if to[id] >= 0 { // of the others together it says nothing
				s.calls[i][to[id]] = n
			}
		}
	}
	return n
}

// ownShare is the share that the last symbol has itself of an event.
func (s *side) ownShare(events []int) float64 {
	var own, all float64
	room := newSpent(s)
	for k, r := range s.runs {
		p := &s.paths[k]
		for path, sum := range room.of(r, p, events[k]) {
			all += float64(sum.Weight)
			if int(p.symbol[path]) == len(s.symbols)-1 {
				own += float64(sum.Weight)
			}
		}
	}
	return own / max(all, 1)
}
