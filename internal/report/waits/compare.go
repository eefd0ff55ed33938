package waits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/wait"
)

// A Change is a chain or a deadlock on both sides, in words. Places may differ between the sides:
// the threads are the same.
type Change struct {
	Threads    string
	Base, Head string // "none" where nobody waited like that
	Longest    string // on both sides
	weight     float64
}

// deadlock is in front of the threads of one.
const deadlock = "deadlock: "

// Per says what numbers of Compare are of.
func Per(base, head *wait.Report) string {
	if dumps(base)+dumps(head) > 0 {
		return "in dumps"
	}
	return "time in a run"
}

func dumps(r *wait.Report) int {
	if r == nil {
		return 0
	}
	return r.Dumps
}

// Compare lists who waited for whom on both sides, what was waited longest first, as far as it matters. Times are
// divided by the number of runs. Either report may be nil.
func Compare(base, head *wait.Report, runsBase, runsHead int) []Change {
	known := make(map[string]*[2]wait.Sum)
	var order []string
	add := func(side int, names string, s *wait.Sum) {
		if known[names] == nil {
			known[names] = new([2]wait.Sum)
			order = append(order, names)
		}
		known[names][side].Add(s)
	}
	for side, r := range []*wait.Report{base, head} {
		if r == nil {
			continue
		}
		for i := range r.Cycles {
			c := &r.Cycles[i]
			add(side, deadlock+names(c.Links, c.Threads, true), &c.Sum)
		}
		for i := range r.Chains {
			if c := &r.Chains[i]; !c.Cycle {
				add(side, names(c.Links, c.Threads, false), &c.Sum)
			}
		}
	}
	list := make([]Change, 0, len(order))
	for _, name := range order {
		s := known[name]
		if !strings.HasPrefix(name, deadlock) && (base == nil || !base.Matters(&s[0])) && (head == nil || !head.Matters(&s[1])) {
			continue
		}
		c := Change{Threads: name}
		var w [2]float64
		c.Base, w[0] = sideOf(base, &s[0], runsBase)
		c.Head, w[1] = sideOf(head, &s[1], runsHead)
		c.weight = max(w[0], w[1])
		if dumps(base)+dumps(head) == 0 {
			c.Longest = longestOf(&s[0]) + " → " + longestOf(&s[1])
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(x, y Change) int {
		return cmp.Or(-cmp.Compare(x.weight, y.weight), -cmp.Compare(strings.Count(x.Threads, Arrow), strings.Count(y.Threads, Arrow)))
	})
	return list
}

// names draws the threads of a chain in a line.
func names(links []wait.Link, all int, cycle bool) string {
	d := Drawing{Deadlock: cycle}
	d.Threads, d.More = drawLinks(links, all, nil, 0)
	return strings.Join(d.Names(), Arrow)
}

// sideOf is how long was waited in a run, or in how many dumps, in words and as a number to sort by.
func sideOf(r *wait.Report, s *wait.Sum, runs int) (string, float64) {
	switch {
	case s.Count == 0:
		return "none", 0
	case r.Dumps > 0:
		return fmt.Sprintf("%d of %d", s.Count, r.Dumps), float64(s.Count) / float64(r.Dumps)
	}
	per := float64(s.TotalNS) / float64(max(1, runs))
	return duration(int64(per)), per
}

func longestOf(s *wait.Sum) string {
	if s.Count == 0 {
		return "none"
	}
	return duration(s.LongestNS)
}
