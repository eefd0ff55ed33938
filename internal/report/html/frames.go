package html

import (
	"math"
	"slices"

	"profdiff/internal/report/diff"
)

// A pruner leaves light frames out of a tree.
type pruner struct {
	all        *diff.Frames
	end        []int32   // by frame: the one after the last below it
	base, head []float64 // by frame: the costs of it and what it calls
	weight     []float64 // by frame: the larger share of a side
	// at is by frame the one of what was pruned last that stands for it: itself, or the nearest one above.
	at []int32
}

// weigh computes what limits go by.
func (p *pruner) weigh() {
	p.end = ends(p.all)
	p.base, p.head = totals(p.all, p.end)
	p.weight = make([]float64, len(p.end))
	for i := range p.weight {
		p.weight[i] = max(part(p.base[i], p.base[0]), part(p.head[i], p.head[0]))
	}
}

// pruned keeps about limit frames: the heaviest, and those whose change was decided with
// their callers. What is left out below a frame is one row, with the sum of its costs.
func (p *pruner) pruned(limit int) diff.Frames {
	f, n := p.all, len(p.all.Level)
	p.at = make([]int32, n)
	if n <= limit {
		for i := range p.at {
			p.at[i] = int32(i)
		}
		return *f
	}
	if p.end == nil {
		p.weigh()
	}
	least := nthSmallest(p.weight, n-max(limit, 1)-1) // the heaviest that is left out
	keep := make([]bool, n)
	keep[0] = true
	var path []int // of the frame
	for i := range n {
		path = append(path[:f.Level[i]], i)
		if p.weight[i] > least || f.Flags[i]&(diff.Grew|diff.Shrank) != 0 {
			for k := len(path) - 1; k >= 0 && !keep[path[k]]; k-- {
				keep[path[k]] = true
			}
		}
	}
	out := diff.Frames{All: f.All, Least: least, Threads: f.Threads}
	type open struct {
		n, at      int32
		base, head float64
		thread     int32
	}
	thread := func(i int) int32 {
		if f.Thread == nil {
			return -1
		}
		return f.Thread[i]
	}
	var stack []open
	close := func(until int32) {
		for len(stack) > 0 && int32(len(stack)) > until {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.n > 0 {
				appendFrame(&out, int32(len(stack))+1, -1-top.n, top.base, top.head, 0, top.thread)
			}
		}
	}
	for i := 0; i < n; {
		close(f.Level[i])
		if !keep[i] {
			parent := &stack[len(stack)-1]
			parent.n += p.end[i] - int32(i)
			parent.base += p.base[i]
			parent.head += p.head[i]
			for end := int(p.end[i]); i < end; i++ {
				p.at[i] = parent.at
			}
			continue
		}
		p.at[i] = int32(len(out.Level))
		stack = append(stack, open{at: p.at[i], thread: thread(i)})
		appendFrame(&out, f.Level[i], f.Function[i], f.Base[i], f.Head[i], f.Flags[i], thread(i))
		i++
	}
	close(0)
	return out
}

// nthSmallest is the element that sorting would put at index k. It looks at the values by
// 16 bits at a time, from the highest.
func nthSmallest(values []float64, k int) float64 {
	// These bits sort as the numbers do.
	ordered := func(v float64) uint64 {
		if b := math.Float64bits(v); b>>63 == 0 {
			return b | 1<<63
		} else {
			return ^b
		}
	}
	const digit = 1<<16 - 1
	var known, mask uint64 // the bits of the result that are known
	for shift := 48; shift >= 0; shift -= 16 {
		var count [digit + 1]int
		for _, v := range values {
			if b := ordered(v); b&mask == known {
				count[b>>shift&digit]++
			}
		}
		d := 0
		for ; k >= count[d]; d++ {
			k -= count[d]
		}
		known |= uint64(d) << shift
		mask |= digit << shift
	}
	if known>>63 == 0 {
		return math.Float64frombits(^known)
	}
	return math.Float64frombits(known &^ (1 << 63))
}

func appendFrame(f *diff.Frames, level, function int32, base, head float64, flags diff.FrameFlags, thread int32) {
	f.Level = append(f.Level, level)
	f.Function = append(f.Function, function)
	f.Base = append(f.Base, base)
	f.Head = append(f.Head, head)
	f.Flags = append(f.Flags, flags)
	if f.Threads != nil {
		f.Thread = append(f.Thread, thread)
	}
}

// ends are the indices after the last frame below each.
func ends(f *diff.Frames) []int32 {
	n := int32(len(f.Level))
	end := make([]int32, n)
	var open []int32
	for i := range n {
		for len(open) > 0 && f.Level[open[len(open)-1]] >= f.Level[i] {
			end[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		end[i] = n
	}
	return end
}

// totals are the costs of each frame and what it calls.
func totals(f *diff.Frames, end []int32) (base, head []float64) {
	n := len(f.Level)
	base, head = slices.Clone(f.Base), slices.Clone(f.Head)
	for i := n - 1; i >= 0; i-- {
		for c := int32(i) + 1; c < end[i]; c = end[c] {
			base[i] += base[c]
			head[i] += head[c]
		}
	}
	return base, head
}

func part(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
