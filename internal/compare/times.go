package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"profdiff/internal/heatmap"
	"profdiff/internal/run"
)

// Times say when the costs of an event were spent, from the start of each run on.
type Times struct {
	heatmap.Axis
	// Threads are the rows, the heaviest first. If there are Others, the last row has so many threads
	// that are not told apart.
	Threads []string
	Others  int
	// After are the same rows by what head calls them, nil if no thread was renamed.
	After []string
	// Runs are base's, then head's.
	Runs []RunTimes
	// Stacks are normalized costs by frame, means over the runs of a side. Nodes are by frame the node
	// of the tree.
	Stacks *heatmap.Frames
	Nodes  []TreeNode
}

// RunTimes say when the costs of one run were spent.
type RunTimes struct {
	Head bool
	// Length is from the first to the last sample, in nanoseconds.
	Length int64
	// Weights are by thread and bin. Untimed is of samples whose time is not known.
	Weights [][]int64
	Untimed int64
	// Divisor is what a weight is divided by to be a normalized cost.
	Divisor float64
}

// mostThreads is how many rows threads have, and mostOfPool how many of them one pool.
const (
	mostThreads = 24
	mostOfPool  = 16
)

// Times says when the event of the tree was sampled. It is nil if that is not known of all runs.
func (t *Tree) Times() *Times {
	var clocks []clock
	longest, samples, lasts, known := int64(0), 0, false, true
	t.eachRun(func(_ int, r *run.Run, _ *paths, event int, _ []int32) {
		c := clockOf(r, event)
		clocks = append(clocks, c)
		longest = max(longest, c.end-c.start)
		samples += c.samples
		lasts = lasts || c.lasts
		known = known && c.known
	})
	if !known || longest <= 0 || samples == 0 {
		return nil
	}
	out := &Times{Axis: heatmap.NewAxis(longest, samples/2, lasts)}
	rows := t.threadRows(out)
	frameOf, parent := t.frames(out)
	out.Stacks = heatmap.NewFrames(parent)
	t.eachRun(func(i int, r *run.Run, p *paths, event int, _ []int32) {
		head, at, divisors := i >= len(t.c.Base), i, t.event.Normalization.base
		if head {
			at, divisors = i-len(t.c.Base), t.event.Normalization.head
		}
		of := RunTimes{
			Head: head, Length: clocks[i].end - clocks[i].start, Weights: make([][]int64, len(out.Threads)),
			Untimed: r.Events[event].Weight, Divisor: divisors[at].value,
		}
		for k := range of.Weights {
			of.Weights[k] = make([]int64, out.Bins)
		}
		scale := 1 / of.Divisor / float64(len(divisors))
		eachTimed(r, event, func(s *run.TimedSample) {
			row := rows[i][s.Labels]
			frame := frameOf[t.nodeOf[i][p.of[s.Stack]]]
			add := func(bin int, part int64) {
				of.Weights[row][bin] += part
				out.Stacks.Add(heatmap.Cell{Head: head, Thread: row, Frame: frame, Bin: bin, Weight: float64(part) * scale})
			}
			of.Untimed -= s.Weight
			at := s.Time - clocks[i].start
			if s.Lasts {
				out.Spread(max(at-s.Weight, 0), at, s.Weight, add)
			} else {
				add(out.Of(at), s.Weight)
			}
		})
		out.Runs = append(out.Runs, of)
	})
	return out
}

// eachTimed visits the samples of an event whose time is known.
func eachTimed(r *run.Run, event int, visit func(*run.TimedSample)) {
	for _, list := range [][]run.TimedSample{r.Timeline, r.Spans} {
		for i := range list {
			if s := &list[i]; int(s.Event) == event {
				visit(s)
			}
		}
	}
}

// A clock says from when to when a run was recorded, and how much there is of an event.
type clock struct {
	start, end   int64
	samples      int
	known, lasts bool
}

// clockOf looks at all events of a run, so that each begins when the run does.
func clockOf(r *run.Run, event int) clock {
	c := clock{start: math.MaxInt64, end: math.MinInt64, known: r.Events[event].Samples == 0}
	for _, list := range [][]run.TimedSample{r.Timeline, r.Spans} {
		for i := range list {
			s := &list[i]
			began := s.Time
			if s.Lasts {
				began -= s.Weight
			}
			c.start, c.end = min(c.start, began), max(c.end, s.Time)
			if int(s.Event) == event {
				c.samples++
				c.known = c.known || s.Time != 0
				c.lasts = c.lasts || s.Lasts
			}
		}
	}
	if c.start > c.end {
		return clock{known: c.known}
	}
	if rec := &r.Recording; rec.LastSample > rec.FirstSample && rec.LastSample <= math.MaxInt64 {
		c.start, c.end = min(c.start, int64(rec.FirstSample)), max(c.end, int64(rec.LastSample))
	}
	return c
}

// threadRows names the rows of threads. It returns by run and labels the row.
func (t *Tree) threadRows(out *Times) (rows [][]int) {
	type thread struct {
		name   string
		after  string // as head has it, "" if that has none
		weight float64
		runs   [2]int // in which it is, by side
	}
	index := make(map[string]int)
	var threads []thread
	t.eachRun(func(i int, r *run.Run, _ *paths, event int, _ []int32) {
		side := 0
		if i >= len(t.c.Base) {
			side = 1
		}
		of, seen := make([]int, len(r.Labels)), make(map[int]bool)
		for l := range r.Labels {
			own := cmp.Or(r.Labels[l].Thread, run.NoLabel)
			name := t.c.names.of(run.ByEachThread, side == 1, own)
			k, ok := index[name]
			if !ok {
				k = len(threads)
				index[name] = k
				threads = append(threads, thread{name: name})
			}
			if side == 1 {
				threads[k].after = own
			}
			of[l] = k
		}
		for j := range r.Samples {
			s := &r.Samples[j]
			if int(s.Event) != event {
				continue
			}
			k := of[s.Labels]
			threads[k].weight += float64(s.Weight) / max(1, float64(r.Events[event].Weight))
			if !seen[k] {
				seen[k] = true
				threads[k].runs[side]++
			}
		}
		rows = append(rows, of)
	})
	// Threads of a pool have rows of their own if they are few and most runs have them.
	members, own := make(map[string]int), make(map[string]bool)
	for k := range threads {
		if threads[k].runs != [2]int{} {
			members[run.ThreadPool(threads[k].name)]++
		}
	}
	for pool, n := range members {
		own[pool] = n <= mostOfPool
	}
	for k := range threads {
		x, pool := &threads[k], run.ThreadPool(threads[k].name)
		if x.runs != [2]int{} && members[pool] > 1 && 2*x.runs[0] < len(t.c.Base) && 2*x.runs[1] < len(t.c.Head) {
			own[pool] = false
		}
	}
	rowOf, byName := make([]int, len(threads)), make(map[string]int)
	var list []thread
	for k := range threads {
		x := threads[k]
		if pool := run.ThreadPool(x.name); members[pool] > 1 && !own[pool] {
			x.name = pool
			if x.after != "" {
				x.after = run.ThreadPool(x.after)
			}
		}
		at, ok := byName[x.name]
		if !ok {
			at = len(list)
			byName[x.name] = at
			list = append(list, thread{name: x.name})
		}
		list[at].weight += x.weight
		list[at].after = cmp.Or(list[at].after, x.after)
		rowOf[k] = at
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(list[a].weight, list[b].weight), strings.Compare(list[a].name, list[b].name))
	})
	place := make([]int, len(list))
	for at, k := range order {
		place[k] = min(at, mostThreads)
		switch {
		case list[k].weight == 0: // of other events
		case at < mostThreads:
			out.Threads = append(out.Threads, list[k].name)
			out.After = append(out.After, cmp.Or(list[k].after, list[k].name))
		default:
			out.Others++
		}
	}
	if out.Others > 0 {
		out.Threads, out.After = append(out.Threads, ""), append(out.After, "")
	}
	if slices.Equal(out.Threads, out.After) {
		out.After = nil
	}
	for _, of := range rows {
		for l := range of {
			of[l] = min(place[rowOf[of[l]]], len(out.Threads)-1)
		}
	}
	return rows
}

// frames numbers the heaviest nodes by what they cost, callers before callees. It returns by node the
// number of it or of the nearest one above, and by number the number of the caller.
func (t *Tree) frames(out *Times) (frameOf, parent []int32) {
	n := t.Len()
	cost := make([]float64, n)
	for id := range cost {
		cost[id] = max(ratio(t.Base[id], t.Base[TreeRoot]), ratio(t.Head[id], t.Head[TreeRoot]))
	}
	// What callers cost is not less than what a callee does, but for rounding.
	for id := n - 1; id > 0; id-- {
		up := t.parent[id]
		cost[up] = max(cost[up], cost[id])
	}
	order := make([]TreeNode, n)
	for id := range order {
		order[id] = TreeNode(id)
	}
	slices.SortFunc(order, func(a, b TreeNode) int { return cmp.Or(-cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b)) })
	out.Nodes = slices.Clone(order[:min(n, heatmap.MostFrames)])
	frameOf, parent = make([]int32, n), make([]int32, len(out.Nodes))
	for i := range frameOf {
		frameOf[i] = -1
	}
	for i, id := range out.Nodes {
		frameOf[id] = int32(i)
	}
	for id := 1; id < n; id++ {
		if up := frameOf[t.parent[id]]; frameOf[id] < 0 {
			frameOf[id] = up
		} else {
			parent[frameOf[id]] = up
		}
	}
	return frameOf, parent
}

// ratio is a/b, 0 if there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
