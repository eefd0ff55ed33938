package align

import (
	"cmp"
	"math"
	"slices"
)

// A function that was written anew has another name and other code; what is left of it is its place:
// it is called by the same functions, as much is spent in it, and it calls nothing that could tell
// otherwise. One such place can be that of an unrelated function, by chance or because one function
// was inlined and another one no longer is. So all has to agree, and nothing else may fit half as well.

const (
	replacedReason = "gone and new in one place: same callers, as much cost"
	// leastCallers is the number of callers in common that a replaced function has.
	leastCallers = 2
	// rival is the least similarity of callers, and the least part of the cost, of a function that
	// could have the same place.
	rivalCallers, rivalCost = 0.5, 0.25
)

// matchReplaced matches functions that are gone with those that are new in their place. near are
// functions that only head has, by functions of base that have callers in common with them.
func (x *splitting) matchReplaced(near map[int32][]int32) {
	claims := make(map[int32][]int32) // by function of head
	for w, parts := range near {
		if x.whole.group[w] < 0 {
			for _, p := range parts {
				claims[p] = append(claims[p], w)
			}
		}
	}
	type replaced struct {
		base, head int32
		score      float64
	}
	var found []replaced
	for w, parts := range near {
		if x.whole.group[w] >= 0 || !x.gone(w) {
			continue
		}
		for _, p := range parts {
			d := division{whole: []int32{w}, parts: []int32{p}}
			f := x.fit(&d)
			if x.parts.group[p] >= 0 || f.calls >= told || min(f.called, f.callers, f.cost) < conservedFully || x.sharedCallers(w, p) < leastCallers {
				continue
			}
			alone := !slices.ContainsFunc(parts, func(q int32) bool { return q != p && x.rivals(w, q, x.whole.weight[w], x.parts.weight[q]) }) &&
				!slices.ContainsFunc(claims[p], func(v int32) bool { return v != w && x.rivals(v, p, x.parts.weight[p], x.whole.weight[v]) })
			if alone {
				found = append(found, replaced{w, p, f.score()})
			}
		}
	}
	slices.SortFunc(found, func(a, b replaced) int { return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.head, b.head)) })
	for _, r := range found {
		x.pair(r.base, r.head, Renamed, math.Round(100*min(highest, r.score))/100, replacedReason)
	}
}

// gone reports whether a function has so many samples that head would have some of it if it was there.
func (x *splitting) gone(w int32) bool {
	n := float64(x.whole.fns[w].Samples)
	return n >= leastSeen && (x.seen[0] == 0 || n*x.seen[1]/x.seen[0] >= leastSeen)
}

// rivals reports whether w and p could as well have one place, where one costs as much as all and the
// other this much.
func (x *splitting) rivals(w, p int32, all, cost float64) bool {
	return cost >= rivalCost*all && x.callerEvidence(w, p).similarity >= rivalCallers
}

// sharedCallers is how many callers both have that account for more than chance.
func (x *splitting) sharedCallers(w, p int32) (n int) {
	groups := make(map[int32]bool)
	for _, e := range x.whole.callers[w] {
		if g := x.find(x.whole.group[e.fn]); g >= 0 && e.share >= least {
			groups[g] = true
		}
	}
	for _, e := range x.parts.callers[p] {
		if g := x.find(x.parts.group[e.fn]); e.share >= least && groups[g] {
			delete(groups, g)
			n++
		}
	}
	return n
}
