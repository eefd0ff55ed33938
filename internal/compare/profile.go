package compare

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"profdiff/internal/run"
)

// Stacks are the call stacks of both sides: paths of aligned functions, with what was
// spent in the innermost. Costs are normalized as in the comparison, means over the
// runs of a side, and on the scale of base's mean run: base's costs of an event add up
// to its Raw.Base, and head's to that times head's normalized total over base's.
type Stacks struct {
	// Frames are the functions, sorted.
	Frames []Frame

	events int
	nodes  *run.Prefixes // of indices in Frames
	used   []bool        // by node: a sample ends here
	sums   []float64     // by node, event and side
}

// A Frame is a function as head names it, or base if head does not have it.
type Frame struct {
	Name, SystemName string
	DSO              string // base name of the file
	File             string // source file, "" if unknown
}

// A Stack is one path of functions with samples of its own on either side.
type Stack struct {
	// Frames are indices in Stacks.Frames, outermost first.
	Frames []int
	// Base and Head are costs by event, in the order of Comparison.Events.
	Base, Head []float64
}

// Stacks adds up the samples of all events by stack.
func (c *Comparison) Stacks() *Stacks {
	s := &Stacks{events: len(c.Events)}
	frameOf := s.frames(c)
	sides := [...]struct {
		*side
		rowOf []int32
	}{{c.base, c.rows.base}, {c.head, c.rows.head}}
	t := run.NewPrefixes()
	var nodeOf [2][][]int32 // by side, run and path
	for i, side := range sides {
		for j, r := range side.runs {
			p := &side.paths[j]
			of := make([]int32, p.len())
			for id := 1; id < len(of); id++ {
				of[id] = t.Of(of[p.parent[id]], frameOf[side.rowOf[p.symbol[id]]])
			}
			if slices.ContainsFunc(r.Samples, func(x run.Sample) bool { return x.Stack == 0 }) {
				of[0] = t.Of(0, frameOf[side.rowOf[0]])
			}
			nodeOf[i] = append(nodeOf[i], of)
		}
	}
	s.nodes, s.used, s.sums = t, make([]bool, t.Len()), make([]float64, 2*s.events*t.Len())
	for i, side := range sides {
		for j, r := range side.runs {
			eventOf := make([]int, len(r.Events)) // index in c.Events, or -1
			for k := range eventOf {
				eventOf[k] = slices.IndexFunc(c.Events, func(e Event) bool {
					return [][]int{e.pair.base, e.pair.head}[i][j] == k
				})
			}
			for k := range r.Samples {
				sample := &r.Samples[k]
				event := eventOf[sample.Event]
				if event < 0 {
					continue
				}
				node := nodeOf[i][j][side.paths[j].of[sample.Stack]]
				s.used[node] = true
				d := c.Events[event].Normalization.divisors(i)[j].value
				*s.sum(node, event, i) += float64(sample.Weight) / d
			}
		}
	}
	runs := [2]float64{float64(len(c.Base)), float64(len(c.Head))}
	for event := range c.Events {
		e := &c.Events[event]
		scale := 1.0
		if base, _ := e.Normalization.means(&e.costs.whole); e.Normalization.Mode != None {
			scale = e.Raw.Base / base
		}
		for node := range s.nodes.Len() {
			for i := range runs {
				v := s.sum(int32(node), event, i)
				*v = *v * scale / runs[i]
			}
		}
	}
	return s
}

// frames fills in s.Frames and returns the index of each row's.
func (s *Stacks) frames(c *Comparison) (frameOf []int32) {
	list := make([]Frame, len(c.rows.rows))
	order := make([]int, len(list))
	for i, r := range c.rows.rows {
		order[i] = i
		sd, symbol := c.head, r.head
		if symbol < 0 {
			sd, symbol = c.base, r.base
		}
		f := &sd.facts[symbol]
		list[i] = Frame{f.Name, f.SystemName, f.DSO, f.File}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &list[i], &list[j]
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO),
			strings.Compare(a.SystemName, b.SystemName), strings.Compare(a.File, b.File), i-j)
	})
	frameOf = make([]int32, len(list))
	for at, i := range order {
		frameOf[i] = int32(at)
		s.Frames = append(s.Frames, list[i])
	}
	return frameOf
}

// sum is what one side, 0 or 1, spent in one event.
func (s *Stacks) sum(node int32, event, side int) *float64 {
	return &s.sums[2*(int(node)*s.events+event)+side]
}

// Fold adds up what base and head spent in one event by the names of frames.
func (s *Stacks) Fold(event int) *run.Folding[[2]float64] {
	f := run.NewFolding[[2]float64]()
	names := make([]int32, len(s.Frames))
	for i := range names {
		names[i] = f.Name(s.Frames[i].Name)
	}
	pathOf := make([]int32, s.nodes.Len())
	for node := int32(1); int(node) < len(pathOf); node++ { // callers precede
		pathOf[node] = f.Path(pathOf[s.nodes.Parent(node)], names[s.nodes.Last(node)])
	}
	for node, used := range s.used {
		if used {
			sum := f.Sum(pathOf[node])
			sum[0] += *s.sum(int32(node), event, 0)
			sum[1] += *s.sum(int32(node), event, 1)
		}
	}
	return f
}

// CheckFrames returns an error if the stacks are so deep that nothing can be done with a file that lists the frames of
// each on both sides, see [run.CheckFrames].
func (s *Stacks) CheckFrames() error {
	var frames, stacks int64
	depths := make([]int64, s.nodes.Len())
	for node := 1; node < len(depths); node++ {
		depths[node] = depths[s.nodes.Parent(int32(node))] + 1
		if s.used[node] {
			stacks += 2
			frames += 2 * depths[node]
		}
	}
	return run.CheckFrames(frames, stacks)
}

// All yields the stacks in the order of their frames: a stack comes before those of
// its callees, and these follow without others between them. A Stack is valid until
// the next one.
func (s *Stacks) All() iter.Seq[*Stack] {
	// The callees of a node are a list: first[node], then next of each.
	first, next := make([]int32, s.nodes.Len()), make([]int32, s.nodes.Len())
	order := make([]int32, 0, s.nodes.Len()-1)
	for i := 1; i < s.nodes.Len(); i++ {
		order = append(order, int32(i))
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(s.nodes.Last(a), s.nodes.Last(b)) })
	for _, id := range slices.Backward(order) {
		parent := s.nodes.Parent(id)
		next[id], first[parent] = first[parent], id
	}
	return func(yield func(*Stack) bool) {
		stack := Stack{Base: make([]float64, s.events), Head: make([]float64, s.events)}
		for id := first[0]; id != 0; {
			stack.Frames = append(stack.Frames, int(s.nodes.Last(id)))
			if s.used[id] {
				for event := range s.events {
					stack.Base[event], stack.Head[event] = *s.sum(id, event, 0), *s.sum(id, event, 1)
				}
				if !yield(&stack) {
					return
				}
			}
			if first[id] != 0 {
				id = first[id]
				continue
			}
			stack.Frames = stack.Frames[:len(stack.Frames)-1]
			for id != 0 && next[id] == 0 {
				if id = s.nodes.Parent(id); id != 0 {
					stack.Frames = stack.Frames[:len(stack.Frames)-1]
				}
			}
			id = next[id]
		}
	}
}
