package align

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// One function became several, or several one: what callers asked one function for is asked
// of several now, and what these ask of others is the same as before. That is measured by
// flow, what is spent below the calls between two functions as a share of the side: where a
// function of base is split, the flow from each caller and to each callee is the sum of the
// flows of its parts.

const (
	// leastSeen is the number of samples that a function must have, and should have on the
	// other side too if it was there, to be new or gone: one of 12 is missed by chance in
	// 6 of a million.
	leastSeen = 12
	// leastPart is the least part of the cost of all parts that one of them has.
	leastPart = 0.1
	// leastGain is how much better the flows must agree with a part than without it.
	leastGain = 0.08
	// conserved is the least agreement of flows and costs: more than half or twice as much is
	// no conserved cost. It is more where callees say nothing or a name did not go, and most
	// where names say nothing.
	conserved      = 0.5
	conservedWell  = 0.7
	conservedFully = 0.8
	// told is the least share of the cost of a function whose callers, or callees, are known
	// where these tell something.
	told = 0.2
	// costWeight is how much conserved cost counts beside what [similar] goes by.
	costWeight = 0.3
	// alikeNames is the least similarity of names that speaks for a part.
	alikeNames = 0.4
	// sameWords is the least share of the words that one part has in common with the whole
	// which another has.
	sameWords = 0.85
	// extended is the least share of a name that is kept in the names of other parts.
	extended = 0.8
)

// splitting finds the parts of functions of one side among those of the other.
type splitting struct {
	*similar
	// whole is the side where functions are in one piece, parts the other.
	whole, parts           *side
	wholeNames, partsNames []string // bare
	kind                   Kind
	// all are the words of the names of all functions.
	all *vocabulary
	// members are the functions of each group on both sides.
	members map[int32]*[2][]int32
	// seen is the number of samples of each side, whole first.
	seen [2]float64
	user map[int32]bool // groups that the user made
}

// A division is a function, with what the compiler made of it, and its parts.
type division struct {
	whole, kept []int32 // kept are parts that were matched before
	parts       []int32 // in need of a match, the heaviest first
	fit         fit
	score       float64
}

// fit is how a function agrees with its parts, 0 to 1 each.
type fit struct {
	callers, callees float64
	// cost is the smaller of both costs by the greater one.
	cost float64
	// called and calls are the shares of the cost of the whole whose callers and callees are
	// known.
	called, calls float64
	// name is the least similarity of the name of a part, extends the least share of the
	// name of the whole that is in it, and most the greatest.
	name, extends, most float64
	// same is set if a part has the name of the whole.
	same bool
}

// matchSplits finds functions that became several, then those that several became.
func (s *similar) matchSplits() {
	var all *vocabulary
	for _, kind := range [...]Kind{Split, Merged} {
		x := splitting{similar: s, whole: s.matcher.base, parts: s.matcher.head, wholeNames: s.base.bare, partsNames: s.head.bare, kind: kind}
		if kind == Merged {
			x.whole, x.parts, x.wholeNames, x.partsNames = x.parts, x.whole, x.partsNames, x.wholeNames
		}
		x.group()
		open := x.parts.open(func(i int32) bool {
			f := &x.parts.fns[i]
			return !f.Unknown && f.Name != "" && x.parts.weight[i] >= heavy && x.missed(i)
		})
		if len(open) == 0 {
			continue
		}
		if all == nil {
			all = &vocabulary{ids: make(map[string]int32)}
			for _, bare := range slices.Concat(s.base.bare, s.head.bare) {
				all.read(bare)
			}
			all.weigh()
		}
		x.all = all
		var found []division
		near := x.candidates(open)
		for w, parts := range near {
			if d, ok := x.divide(w, parts); ok {
				found = append(found, d)
			}
		}
		x.take(found)
		if kind == Split {
			x.matchReplaced(near)
		}
	}
}

// group lists what is in each group.
func (x *splitting) group() {
	x.members, x.user = make(map[int32]*[2][]int32), make(map[int32]bool)
	for k, side := range [...]*side{x.whole, x.parts} {
		for i := range side.fns {
			x.seen[k] = max(x.seen[k], float64(side.fns[i].Samples))
			if g := x.find(side.group[i]); g >= 0 {
				of := x.members[g]
				if of == nil {
					of = new([2][]int32)
					x.members[g] = of
				}
				of[k] = append(of[k], int32(i))
			}
		}
	}
	for i := range x.matches {
		if m := &x.matches[i]; m.Reason == userReason {
			x.user[x.find(x.matcher.base.group[m.Base])] = true
		}
	}
}

// take matches divisions, the best first, without parts that another division could as well
// have.
func (x *splitting) take(found []division) {
	slices.SortFunc(found, func(a, b division) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), cmp.Compare(a.whole[0], b.whole[0]))
	})
	claims := make(map[int32][]float64) // by part: scores, the best first
	for _, d := range found {
		for _, p := range d.parts {
			claims[p] = append(claims[p], d.score)
		}
	}
	for _, d := range found {
		if slices.ContainsFunc(d.parts, func(p int32) bool {
			return claims[p][0] > d.score || len(claims[p]) > 1 && claims[p][1] > d.score-margin
		}) {
			continue
		}
		confidence := math.Round(100*min(highest, d.score)) / 100
		reason := d.fit.reason()
		of := x.find(x.whole.group[d.whole[0]])
		kind := x.kind
		if len(d.parts)+len(d.kept) == 1 {
			kind = Renamed
		}
		for i := range x.matches {
			// What similarity took for the same function is a part of it.
			if m := &x.matches[i]; of >= 0 && m.Kind == Renamed && x.find(x.matcher.base.group[m.Base]) == of {
				m.Kind, m.Confidence, m.Reason = kind, confidence, reason
			}
		}
		for _, p := range d.parts {
			b, h := d.whole[0], p
			if x.kind == Merged {
				b, h = h, b
			}
			x.pair(b, h, kind, confidence, reason)
		}
	}
}

// candidates are functions that only the side of the parts has, by a function that has
// callers in common with them: or whose name is like theirs and gone, where no callers are known,
// as in recordings of code without frame pointers.
func (x *splitting) candidates(open []int32) map[int32][]int32 {
	found := make(map[int32][]int32)
	for _, p := range open {
		near := make(map[int32]bool)
		for _, c := range x.parts.callers[p] {
			of := x.members[x.find(x.parts.group[c.fn])]
			if of == nil {
				continue
			}
			for _, caller := range of[0] {
				for _, e := range x.whole.callees[caller] {
					near[e.fn] = true
				}
			}
		}
		placed := x.parts.placed(p)
		for w := range x.whole.fns {
			if x.whole.weight[w] >= heavy && !placed && !x.whole.placed(int32(w)) && !x.kept(int32(w)) {
				if name, _ := x.nameOf(int32(w), p); name >= alikeNames {
					near[int32(w)] = true
				}
			}
		}
		done := make(map[int32]bool)
		for w := range near {
			first := x.firstOf(w)
			if f := &x.whole.fns[w]; !f.Unknown && f.Name != "" && !done[first] && x.whole.weight[first] >= heavy && x.whole.dso[first] == x.parts.dso[p] && x.possible(first, p) {
				done[first] = true
				found[first] = append(found[first], p)
			}
		}
	}
	for _, list := range found {
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(-cmp.Compare(x.parts.weight[a], x.parts.weight[b]), cmp.Compare(a, b))
		})
	}
	return found
}

// placed reports whether the callers of a function are known, by name.
func (s *side) placed(i int32) bool {
	known := 0.0
	for _, e := range s.callers[i] {
		if !s.fns[e.fn].Unknown {
			known += e.weight
		}
	}
	return known >= told*s.weight[i]
}

// kept reports whether the other side has a function of the same name.
func (x *splitting) kept(w int32) bool {
	of := x.members[x.find(x.whole.group[w])]
	return of != nil && len(of[1]) > 0 && x.sameName(w, of[1][0])
}

// sameName reports whether names are the same but for what compilers and editions add.
func (x *splitting) sameName(w, p int32) bool {
	bare, kept := x.wholeNames[w], x.partsNames[p]
	return bare == kept || withoutEdition(bare) == withoutEdition(kept)
}

// missed reports whether a function has so many samples that the other side would have some
// of it if it was there.
func (x *splitting) missed(p int32) bool {
	n := float64(x.parts.fns[p].Samples)
	return n >= leastSeen && (x.seen[1] == 0 || n*x.seen[0]/x.seen[1] >= leastSeen)
}

// firstOf is the heaviest function of the whole side in the group of one.
func (x *splitting) firstOf(w int32) int32 {
	if of := x.members[x.find(x.whole.group[w])]; of != nil {
		for _, i := range of[0] {
			if x.whole.weight[i] > x.whole.weight[w] {
				w = i
			}
		}
	}
	return w
}

// possible reports whether names allow p to be a part of w.
func (x *splitting) possible(w, p int32) bool {
	b, h := w, p
	if x.kind == Merged {
		b, h = h, b
	}
	return endsInClosure(x.wholeNames[w]) == endsInClosure(x.partsNames[p]) && !x.twoScopes(b, h)
}

// nameOf is the similarity of the names of a function and a part, and the share of the
// former that the latter has.
func (x *splitting) nameOf(w, p int32) (similarity, extends float64) {
	whole, part := x.all.wordsOf(x.wholeNames[w]), x.all.wordsOf(x.partsNames[p])
	return x.all.similarity(whole, part), x.all.contained(whole, part)
}

// divide finds the parts of a function among candidates.
func (x *splitting) divide(w int32, candidates []int32) (d division, ok bool) {
	d.whole = []int32{w}
	if g := x.find(x.whole.group[w]); g >= 0 {
		if x.user[g] {
			return d, false
		}
		d.whole, d.kept = x.members[g][0], x.members[g][1]
	}
	now := x.fit(&d)
	total := x.parts.costOf(d.kept)
	for _, p := range candidates {
		with := d
		with.parts = append(d.parts[:len(d.parts):len(d.parts)], p)
		f := x.fit(&with)
		if f.agreement() < now.agreement()+leastGain || x.parts.calls(append(d.kept[:len(d.kept):len(d.kept)], d.parts...), p) {
			continue
		}
		d, now = with, f
		total += x.parts.weight[p]
	}
	if len(d.parts) == 0 {
		return d, false
	}
	for _, p := range slices.Concat(d.parts, d.kept[:min(1, len(d.kept))]) {
		if x.parts.weight[p] < leastPart*total {
			return d, false
		}
	}
	d.fit = now
	d.score = now.score()
	return d, d.score >= floor && now.holds()
}

// agreement is how well flows and costs agree.
func (f *fit) agreement() float64 {
	return (f.called*f.callers + f.cost + f.calls*f.callees) / (1 + f.called + f.calls)
}

// holds reports whether the evidence is enough. Cost that is conserved by chance is not rare:
// either the name of the whole is gone and lives on in its parts, or what they call tells.
func (f *fit) holds() bool {
	tells, placed := f.calls >= told, f.called >= told
	least := f.cost
	if tells {
		least = min(least, f.callees)
	}
	if placed {
		least = min(least, f.callers)
	}
	switch {
	case !placed:
		return !f.same && f.name >= alikeNames && f.extends >= sameWords*f.most && least >= conservedFully
	case f.same:
		return tells && f.extends >= extended && least >= conservedWell
	case f.name < alikeNames || f.extends < sameWords*f.most:
		// With one part that has more of the name, that one is the function under a new name.
		return f.name < alikeNames && tells && least >= conservedFully
	case !tells:
		return least >= conservedWell
	}
	return least >= conserved
}

func (f *fit) score() float64 {
	return 1 - (1-nameWeight*f.name)*(1-callerWeight*f.called*f.callers)*(1-calleeWeight*f.callees*f.calls)*(1-costWeight*f.cost)
}

func (f *fit) reason() string {
	var why []string
	if f.name >= alikeNames {
		why = append(why, "similar names")
	}
	const alike = 0.7
	callers, callees := f.called >= told && f.callers >= alike, f.calls >= told && f.callees >= alike
	switch {
	case callers && callees:
		why = append(why, "same callers and callees")
	case callers:
		why = append(why, "same callers")
	case callees:
		why = append(why, "same callees")
	}
	return strings.Join(append(why, "together the same cost"), ", ")
}

// fit compares a function with its parts.
func (x *splitting) fit(d *division) (f fit) {
	parts := slices.Concat(d.kept, d.parts)
	if len(parts) == 0 {
		return fit{}
	}
	f.callers, f.called = x.overlap(d.whole, parts, x.whole.callers, x.parts.callers)
	f.callees, f.calls = x.overlap(d.whole, parts, x.whole.callees, x.parts.callees)
	cost := x.whole.costOf(d.whole)
	f.called, f.calls = min(1, f.called/cost), min(1, f.calls/cost)
	f.cost = ratio(cost, x.parts.costOf(parts))
	f.name, f.extends = 1, 1
	name := func(p int32) {
		similarity, extends := x.nameOf(d.whole[0], p)
		f.name, f.extends, f.most = min(f.name, similarity), min(f.extends, extends), max(f.most, extends)
	}
	for _, p := range d.parts {
		name(p)
	}
	if len(d.kept) > 0 {
		if f.same = x.sameName(d.whole[0], d.kept[0]); !f.same {
			name(d.kept[0])
		}
	}
	return f
}

func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return min(a, b) / max(a, b)
}

// costOf is what functions cost together: calls between them count once, and of recursive
// ones no more often than that.
func (s *side) costOf(list []int32) float64 {
	var sum, most float64
	for _, i := range list {
		sum += s.weight[i]
		most = max(most, s.weight[i])
		for _, e := range s.callees[i] {
			if slices.Contains(list, e.fn) {
				sum -= e.weight
			}
		}
	}
	return max(sum, most)
}

// calls reports whether most of what a part costs is spent in calls from or to others: then
// code moved into a function that is called, and the whole still is one function.
func (s *side) calls(list []int32, p int32) bool {
	between := 0.0
	for _, edges := range [...][]edge{s.callers[p], s.callees[p]} {
		for _, e := range edges {
			if slices.Contains(list, e.fn) {
				between += e.weight
			}
		}
	}
	return between > 0.5*s.weight[p]
}

// overlap compares the flows between a function and its neighbours with those of its parts
// in one direction: how alike they are spread, the Bhattacharyya coefficient, times the
// smaller of both sums by the greater one; and the greater flow from or to what is matched.
// Neighbours without match count as far as the other side has none for them, and those
// without a name not at all.
func (x *splitting) overlap(whole, parts []int32, wholeEdges, partsEdges [][]edge) (agreement, flow float64) {
	s := &x.spread
	s.reset(len(x.parent))
	add := func(side *side, list []int32, all [][]edge, to []float64) (unknown, sum float64) {
		for _, i := range list {
			for _, e := range all[i] {
				if slices.Contains(list, e.fn) || side.fns[e.fn].Unknown {
					continue
				}
				sum += e.weight
				if g := x.find(side.group[e.fn]); g < 0 {
					unknown += e.weight
				} else {
					s.touch(g)
					to[g] += e.weight
				}
			}
		}
		return unknown, sum
	}
	openWhole, sumWhole := add(x.whole, whole, wholeEdges, s.base)
	openParts, sumParts := add(x.parts, parts, partsEdges, s.head)
	known := max(sumWhole-openWhole, sumParts-openParts)
	if sumWhole <= openWhole || sumParts <= openParts {
		return 0, max(0, known)
	}
	common := math.Sqrt(openWhole * openParts)
	for _, g := range s.groups {
		common += math.Sqrt(s.base[g] * s.head[g])
	}
	return common / math.Sqrt(sumWhole*sumParts) * ratio(sumWhole, sumParts), known
}
