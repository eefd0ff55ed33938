package budget

import (
	"cmp"
	"fmt"

	"profdiff/internal/compare"
)

// What makes a domain: the part of the cost of the functions that must be below a caller,
// the part of everything from which a domain is too large to tell, and the part of the
// growth that is excluded for the whole domain.
const (
	domainCoverage = 0.95
	domainMost     = 0.5
	domainGrowth   = 0.5
)

// shifted says that functions grew while their domain did not, as when code moves between
// the functions of a file or below a caller: "" if that is not shown. Domains are the
// source files of the functions, and the nearest function that has called them.
func (k *check) shifted(x *target, event int, grown *compare.Change) string {
	if !x.framed() || grown.Delta() <= 0 {
		return ""
	}
	for _, d := range []*domain{k.fileDomain(x), k.callerDomain(x)} {
		if d == nil {
			continue
		}
		k.tally.count([]*target{d.target})
		ch := k.comparison.ChangeOf(event, k.level(), d.target.sums[0][0], d.target.sums[1][0], nil)
		wholeBase, wholeHead := k.comparison.Whole(event)
		if !(ch.Base > grown.Base) || ch.Base > domainMost*wholeBase || ch.Head > domainMost*wholeHead {
			continue
		}
		limit := 1 + domainGrowth*grown.Delta()/ch.Base
		if est := ch.Estimate(); est.Method != "" && k.file.rule().Excludes(est, limit) {
			return fmt.Sprintf("shifted within %s, which costs %+.1f%%, at most %+.1f%%", d.name, 100*(ch.Ratio-1), 100*(k.file.rule().Left(est).Hi-1))
		}
	}
	return ""
}

// A domain is what functions are part of.
type domain struct {
	name   string
	target *target
}

// sub is a target of other symbols of the same samples, below the same caller if under is
// set.
func (x *target) sub(self, under bool, only [2]map[int32]bool) *target {
	m := &matcher{dso: "*", thread: x.thread, process: x.process}
	if under {
		m.under = x.matcher.under
	}
	return &target{budget: x.budget, matcher: m, self: self, events: x.events[:1], only: only}
}

// fileDomain is all functions of the source files that the functions are in.
func (k *check) fileDomain(x *target) *domain {
	files := make(map[string]bool)
	first := ""
	for side, ids := range x.matched {
		for _, id := range ids {
			s := &k.tally.symbols[side].list[id]
			if s.self > 0 && s.file == "" {
				return nil
			}
			if s.file != "" {
				files[s.file] = true
				first = cmp.Or(first, s.file)
			}
		}
	}
	if len(files) == 0 {
		return nil
	}
	only := [2]map[int32]bool{{}, {}}
	for side := range k.tally.symbols {
		for i := range k.tally.symbols[side].list {
			if files[k.tally.symbols[side].list[i].file] {
				only[side][int32(i)] = true
			}
		}
	}
	name := first
	if len(files) > 1 {
		name = fmt.Sprintf("%s and %d more files", first, len(files)-1)
	}
	return &domain{name, x.sub(true, true, only)}
}

// callerDomain is the nearest function that is further out on nearly all stacks with the
// functions, on both sides, with all that it calls.
func (k *check) callerDomain(x *target) *domain {
	weight, distance, inside := make([]float64, k.tally.rows), make([]float64, k.tally.rows), make([]float64, k.tally.rows)
	lacks := make([]bool, k.tally.rows)
	for side := range k.tally.runs {
		w, d, in, total := k.callers(x, side)
		for row := range w {
			if w[row] < domainCoverage*total {
				lacks[row] = true
			}
			weight[row] += w[row]
			distance[row] += d[row]
			inside[row] += in[row]
		}
	}
	best := -1
	for row := range weight {
		if !lacks[row] && weight[row] > 0 && (best < 0 || distance[row]/weight[row] < distance[best]/weight[best]) {
			best = row
		}
	}
	if best < 0 {
		return nil
	}
	only := [2]map[int32]bool{{}, {}}
	name := ""
	for side := range k.tally.symbols {
		for i := range k.tally.symbols[side].list {
			if s := &k.tally.symbols[side].list[i]; s.row == best {
				only[side][int32(i)] = true
				name = s.name
			}
		}
	}
	// What is itself called below the caller that the budget names, is a domain there only:
	// cost that comes from elsewhere has not moved within it.
	return &domain{"what " + name + " calls", x.sub(false, inside[best] > weight[best]/2, only)}
}

// callers are the weights of the samples of a target by the rows further out, times the
// distance to them, and of those rows that the caller that the budget names is further out
// than.
func (k *check) callers(x *target, side int) (weight, distance, inside []float64, total float64) {
	rows := k.tally.rows
	weight, distance, inside = make([]float64, rows), make([]float64, rows), make([]float64, rows)
	list := k.tally.symbols[side].list
	under := make([]bool, len(list))
	if p := x.matcher.under; p != nil {
		for i := range list {
			under[i] = p.match(list[i].names...)
		}
	}
	own := make(map[int32]bool)
	ownRow := make(map[int]bool)
	for _, id := range x.matched[side] {
		own[id] = true
		ownRow[k.tally.symbols[side].list[id].row] = true
	}
	seen := make([]int, rows)
	stamp := 0
	type caller struct {
		row    int
		depth  float64
		inside bool
	}
	var found []caller
	for i, r := range k.tally.runs[side] {
		f := &k.tally.frames[side][i]
		at, ok := r.EventIndex(x.events[0])
		if !ok {
			continue
		}
		for j := range r.Samples {
			s := &r.Samples[j]
			if int(s.Event) != at || s.Stack == 0 {
				continue
			}
			if x.self && !own[f.at(r.Stacks.Location(s.Stack))[0]] {
				continue
			}
			stamp++
			found = found[:0]
			below, called, depth := false, false, 0.0
			for id := s.Stack; id != 0; id = r.Stacks.Parent(id) {
				for _, sym := range f.at(r.Stacks.Location(id)) {
					called = called || below && under[sym]
					if own[sym] {
						below, depth = true, 0
						continue
					}
					row := list[sym].row
					if depth++; below && !ownRow[row] && seen[row] != stamp {
						seen[row] = stamp
						found = append(found, caller{row, depth, x.matcher.under != nil && !called})
					}
				}
			}
			if !below || x.matcher.under != nil && !called {
				continue
			}
			w := float64(s.Weight)
			total += w
			for _, c := range found {
				weight[c.row] += w
				distance[c.row] += w * c.depth
				if c.inside {
					inside[c.row] += w
				}
			}
		}
	}
	return weight, distance, inside, total
}
