package stacks

import (
	"fmt"
	"math"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
)

// costs sets what a miss costs: where stacks have cycles what they say, else what is
// known of the core.
func (f *finisher) costs(opt *branch.Options, cpuid string) {
	if opt.Cost != nil {
		f.t.Cost = opt.Cost
		return
	}
	var all []*branch.Cost
	bySite := make(map[*site][]*branch.Cost)
	for _, key := range f.path {
		p := f.paths[key]
		if c := p.cost(); c != nil {
			all = append(all, c)
			bySite[key.site] = append(bySite[key.site], c)
		}
	}
	for s, list := range bySite {
		s.cost = spanCost(list)
	}
	if len(all) > 0 {
		f.t.Cost = usualCost(all)
		return
	}
	var warning string
	if f.t.Cost, warning = opt.CostOn(cpuid); warning != "" {
		f.t.Warnings = append(f.t.Warnings, warning)
	}
}

// minCycles is how many executions of a path with and without a miss its cost takes.
const minCycles = 20

// cost is the difference of the medians with and without a miss, nil if there are too
// few of either or if it is not positive.
func (p *pathCycles) cost() *branch.Cost {
	hit, miss := expand(p.hit), expand(p.miss)
	if len(hit) < minCycles || len(miss) < minCycles {
		return nil
	}
	h, m := stats.QuantileInterval(hit, 0.5, 0.95), stats.QuantileInterval(miss, 0.5, 0.95)
	c := &branch.Cost{Lo: m.Lo - h.Hi, Centre: stats.Median(miss) - stats.Median(hit), Hi: m.Hi - h.Lo, Measured: true}
	if !(c.Centre > 0) {
		return nil
	}
	c.Lo = max(c.Lo, 0)
	c.Source = fmt.Sprintf("cycles of the stacks, %d misses and %d hits", len(miss), len(hit))
	return c
}

// spanCost holds all of a list of costs.
func spanCost(list []*branch.Cost) *branch.Cost {
	c := *list[0]
	sum := 0.0
	for _, o := range list {
		c.Lo, c.Hi = min(c.Lo, o.Lo), max(c.Hi, o.Hi)
		sum += o.Centre
	}
	c.Centre = sum / float64(len(list))
	if len(list) > 1 {
		c.Source = fmt.Sprintf("cycles of the stacks on %d paths", len(list))
	}
	return &c
}

// usualCost is the median of the costs of many paths, from their first to their last
// decile. Of few it holds all.
func usualCost(list []*branch.Cost) *branch.Cost {
	const few = 10
	c := spanCost(list)
	if len(list) < few {
		return c
	}
	centres := make([]float64, len(list))
	for i, o := range list {
		centres[i] = o.Centre
	}
	slices.Sort(centres)
	n := len(centres)
	c.Lo, c.Centre, c.Hi = centres[n/10], stats.Median(centres), centres[n-1-n/10]
	return c
}

// expand lists the values of a histogram in order. Beyond 10,000 it keeps the
// proportions only.
func expand(h map[uint16]int64) []float64 {
	const most = 10000
	var n int64
	values := make([]uint16, 0, len(h))
	for v, k := range h {
		values = append(values, v)
		n += k
	}
	slices.Sort(values)
	var out []float64
	for _, v := range values {
		k := h[v]
		if n > most {
			k = int64(float64(k) / float64(n) * most)
		}
		for range k {
			out = append(out, float64(v))
		}
	}
	return out
}

// slowPaths counts as misses executions that were not taken where the code from the
// branch before to the next one took longer than usual by half the cost of a miss.
// Only paths with one such branch tell which it was.
func (f *finisher) slowPaths() {
	for _, r := range f.known {
		if len(r.conds) != 1 || len(r.cycles) == 0 {
			continue
		}
		s := r.conds[0]
		cost := s.cost
		if cost == nil {
			cost = f.t.Cost
		}
		if cost == nil {
			continue
		}
		limit := usual(r.cycles, cost.Centre) + cost.Centre/2
		for v, n := range r.cycles {
			if float64(v) > limit {
				s.slow += n
			} else {
				s.fast += n
			}
		}
	}
}

// usual is the mode of the cycles of a path without a miss: of those within half the
// cost of the fifth percentile.
func usual(h map[uint16]int64, cost float64) float64 {
	sorted := expand(h)
	if len(sorted) == 0 {
		return 0
	}
	limit := sorted[len(sorted)/20] + cost/2
	mode, most := math.Inf(1), int64(0)
	for v, n := range h {
		if x := float64(v); x <= limit && (n > most || n == most && x < mode) {
			mode, most = x, n
		}
	}
	return mode
}
