package align

import (
	"cmp"
	"slices"
)

// A scored is a possible pair.
type scored struct {
	base, head int32
	score      float64
}

// assign chooses pairs, the best first, so that each base and each head is in one at
// most, and calls take with each; take may refuse. A pair that is refused, or not better
// by margin than every other one that is still possible for its base or head, is left
// open, and keeps others from being chosen that are not better by margin. It sorts
// the pairs.
func assign(pairs []scored, margin float64, take func(p scored) bool) {
	slices.SortFunc(pairs, func(p, q scored) int {
		return cmp.Or(-cmp.Compare(p.score, q.score), cmp.Compare(p.base, q.base), cmp.Compare(p.head, q.head))
	})
	type list struct {
		at   []int32 // indices in pairs, the best first
		done bool
	}
	bases, heads := make(map[int32]*list), make(map[int32]*list)
	put := func(lists map[int32]*list, key int32, i int) {
		l := lists[key]
		if l == nil {
			l = new(list)
			lists[key] = l
		}
		l.at = append(l.at, int32(i))
	}
	for i, p := range pairs {
		put(bases, p.base, i)
		put(heads, p.head, i)
	}
	possible := func(p scored) bool { return !bases[p.base].done && !heads[p.head].done }
	// rival reports whether another pair of l is as good as pair i.
	rival := func(l *list, i int) bool {
		for len(l.at) > 0 && !possible(pairs[l.at[0]]) {
			l.at = l.at[1:]
		}
		for _, j := range l.at {
			if pairs[j].score <= pairs[i].score-margin {
				return false
			}
			if int(j) != i && possible(pairs[j]) {
				return true
			}
		}
		return false
	}
	for i, p := range pairs {
		if !possible(p) || margin > 0 && (rival(bases[p.base], i) || rival(heads[p.head], i)) {
			continue
		}
		if take(p) {
			bases[p.base].done, heads[p.head].done = true, true
		}
	}
}

// inTurn pairs functions of base and head with equal keys: the first of each with the first,
// the second with the second.
func inTurn[K comparable](bs, hs []int32, base, head func(int32) K, pair func(b, h int32)) {
	free := make(map[K][]int32)
	for _, h := range hs {
		k := head(h)
		free[k] = append(free[k], h)
	}
	for _, b := range bs {
		k := base(b)
		if list := free[k]; len(list) > 0 {
			free[k] = list[1:]
			pair(b, list[0])
		}
	}
}

// open lists the functions that are not matched, of those that a condition is true for.
func (s *side) open(where func(i int32) bool) []int32 {
	var list []int32
	for i, g := range s.group {
		if g < 0 && where(int32(i)) {
			list = append(list, int32(i))
		}
	}
	return list
}
