package compare

import (
	"cmp"

	"profdiff/internal/run"
)

// Threads says by node which threads spent more than half of what it and the nodes below it
// cost on both sides together: an index in names, -1 where none did. Threads of a pool are one,
// as in the group [run.ByThread]. With one name in all, of is nil.
//
// A first pass over the samples keeps one thread a node, and each node the one that is left when
// all others below it were set off against it, which is the only one that can have more than half
// (Boyer and Moore, MJRTY, 1991). A second pass adds up what that one has.
func (t *Tree) Threads() (names []string, of []int32) {
	index := make(map[string]int32)
	left := make([]float64, t.Len())
	of = make([]int32, t.Len())
	vote := func(n TreeNode, thread int32, weight float64) {
		switch {
		case of[n] == thread:
			left[n] += weight
		case weight > left[n]:
			of[n], left[n] = thread, weight-left[n]
		default:
			left[n] -= weight
		}
	}
	t.eachThread(func(n TreeNode, name string, weight float64) {
		thread, ok := index[name]
		if !ok {
			thread = int32(len(names))
			index[name] = thread
			names = append(names, name)
		}
		vote(n, thread, weight)
	})
	if len(names) < 2 {
		return names, nil
	}
	for n := t.Len() - 1; n > 0; n-- {
		vote(t.parent[n], of[n], left[n])
	}
	sum := make([]float64, t.Len())
	t.eachThread(func(n TreeNode, name string, weight float64) {
		thread := index[name]
		for ; n >= 0; n = t.parent[n] {
			if of[n] == thread {
				sum[n] += weight
			}
		}
	})
	for n := range of {
		if 2*sum[n] <= t.Base[n]+t.Head[n] {
			of[n] = -1
		}
	}
	return names, of
}

// eachThread visits what threads spent at nodes, as a part of the means over runs.
func (t *Tree) eachThread(visit func(n TreeNode, name string, weight float64)) {
	base, head := t.event.Normalization.base, t.event.Normalization.head
	t.eachRun(func(i int, r *run.Run, p *paths, event int, _ []int32) {
		whole := 0.0
		if k := i - len(base); k >= 0 {
			whole = head[k].value * float64(len(head))
		} else {
			whole = base[i].value * float64(len(base))
		}
		names := make([]string, len(r.Labels))
		for l := range r.Labels {
			names[l] = cmp.Or(run.ThreadPool(r.Labels[l].Thread), run.NoLabel)
		}
		for j := range r.Samples {
			if s := &r.Samples[j]; int(s.Event) == event && s.Weight != 0 {
				visit(t.nodeOf[i][p.of[s.Stack]], names[s.Labels], float64(s.Weight)/whole)
			}
		}
	})
}
