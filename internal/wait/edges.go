package wait

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/run"
)

// edgesOf lists who waited for whom as the input tells it. more are edges that rules found.
//
// Most threads of a trace sleep most of the time, until someone has work for them: who ends
// such a wait blocked nobody. Wakers matter where others wait for the sleeper, so that edges to
// them are there for waits that overlap with a time in which someone waited for that thread.
func edgesOf(r *run.Run, more []Edge) []Edge {
	taken := takenAt(r)
	edges := slices.DeleteFunc(slices.Clone(more), func(e Edge) bool { return e.Holder == 0 || e.Holder == e.Waiter })
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Owner == 0 || w.Owner == w.Thread || w.Kind == run.OffCPU {
			continue
		}
		e := Edge{Waiter: w.Thread, Holder: w.Owner, Start: w.Start, End: w.End, Wait: i, Evidence: Owned, HolderStack: w.OwnerStack}
		if w.Kind == run.Dumped {
			e.Evidence, e.End = HeldAtDump, w.Start+1
			e.HolderStack = taken(w)
		}
		edges = append(edges, e)
	}
	return append(edges, wakers(r, edges)...)
}

// wakers lists edges to threads that ended waits of threads for which others waited meanwhile, by
// edges, and to those that ended waits of these, and so on.
func wakers(r *run.Run, edges []Edge) []Edge {
	if len(edges) == 0 {
		return nil
	}
	slept := make([][]int32, len(r.Threads)) // waits that a thread ended, by sleeper, in the order of time
	for i := range r.Waits {
		if w := &r.Waits[i]; w.Kind == run.OffCPU && w.Waker != 0 && w.Waker != w.Thread && !w.Interrupt && !idle(&r.Threads[w.Waker]) && w.End > w.Start {
			slept[w.Thread] = append(slept[w.Thread], int32(i))
		}
	}
	for _, waits := range slept {
		slices.SortFunc(waits, func(a, b int32) int {
			return cmp.Or(cmp.Compare(r.Waits[a].End, r.Waits[b].End), cmp.Compare(a, b))
		})
	}
	// after[t][i] leads from the wait i of a thread to the first from there on that is not taken.
	after := make([][]int32, len(slept))
	for t := range slept {
		after[t] = make([]int32, len(slept[t])+1)
		for i := range after[t] {
			after[t][i] = int32(i)
		}
	}
	var woke []Edge
	for todo := slices.Clone(edges); len(todo) > 0; {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		waits, after := slept[e.Holder], after[e.Holder]
		i := sort.Search(len(waits), func(i int) bool { return r.Waits[waits[i]].End > e.Start })
		for i = free(after, i); i < len(waits) && r.Waits[waits[i]].Start < e.End; i = free(after, i) {
			after[i] = int32(i + 1)
			w := &r.Waits[waits[i]]
			edge := Edge{Waiter: w.Thread, Holder: w.Waker, Start: w.Start, End: w.End, Wait: int(waits[i]), Evidence: Woke, HolderStack: w.WakerStack}
			woke = append(woke, edge)
			todo = append(todo, edge)
		}
	}
	return woke
}

// idle reports whether a thread is what a CPU does without work. It wakes others in interrupts alone, also where the
// input does not say so.
func idle(t *run.Thread) bool { return t.TID == 0 || strings.HasPrefix(t.Name, "swapper/") }

// free follows after from i to the end, and shortens the way for those who come later.
func free(after []int32, i int) int {
	for int(after[i]) != i {
		after[i] = after[after[i]]
		i = int(after[i])
	}
	return i
}

// takenAt tells where the owner took the lock that a thread waits for: the input says it with the wait, or, in
// a dump, with what the owner holds.
func takenAt(r *run.Run) func(*run.Wait) run.StackID {
	type key struct {
		thread run.ThreadID
		dump   int64
		of     string
	}
	holds := make(map[key]run.StackID, len(r.Holds))
	for i := range r.Holds {
		h := &r.Holds[i]
		holds[key{h.Thread, h.Start, h.Of}] = h.Stack
	}
	return func(w *run.Wait) run.StackID {
		if w.Kind != run.Dumped {
			return w.OwnerStack
		}
		return holds[key{w.Owner, w.Start, w.For}]
	}
}
