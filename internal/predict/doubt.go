package predict

import (
	"math"
	"slices"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// Standard errors of the logarithm of cycles, by what is not modelled. They are judgement;
// what data adds was measured, see memoryWait.
const (
	doubtCalls    = 0.5  // each call of unknown code counts as nothing
	doubtIndirect = 0.4  // the ways of indirect jumps are guessed, and how many are foreseen
	doubtUnknown  = 0.5  // a tenth of the instructions or more
	doubtEntries  = 0.3  // loops with several entries, missing edges
	doubtDivide   = 0.15 // divisions take longer for greater quotients
)

// memoryWait is how much longer loads may make a side that wait for stores to the same
// places, as a share of its cycles without mispredictions: bounded-histogram of mca-cases
// takes 2.4 times as long if half of the places are the same.
const memoryWait = 1.5

// memoryFlag is what a user reads of such loops.
const memoryFlag = "data decide where it stores and from where it loads: loads of what was just stored take longer than predicted"

// A doubt is what a side may take less or more than predicted, as standard errors of the
// logarithm of its cycles.
type doubt struct {
	cause      Cause
	less, more float64
}

// may widens what a side may take to lo and hi, cycles that nine in ten such sides are
// between.
func (c *Cycles) may(cause Cause, lo, hi float64) {
	c.Lo, c.Hi = min(c.Lo, lo), max(c.Hi, hi)
	if c.Total > 0 {
		c.doubts = append(c.doubts, doubt{cause, math.Log(c.Total/min(lo, c.Total)) / z, math.Log(max(hi, c.Total)/c.Total) / z})
	}
}

// doubts are about what the code of a side does that is not modelled.
func (w *work) doubts(c *Cycles) (list []doubt) {
	t := w.walks[0]
	root := w.side.Code.Root
	add := func(is bool, cause Cause, e float64) {
		if is {
			list = append(list, doubt{cause, e, e})
		}
	}
	if less, more := w.side.callsDoubt(t.Calls > 0); less > 0 || more > 0 {
		list = append(list, doubt{CauseCalls, less, more})
	}
	add(t.Indirect > 0, CauseIndirect, doubtIndirect)
	add(c.Unmodelled > 0.1 || w.unparsable > 0, CauseInstructions, doubtUnknown)
	add(w.side.Loop >= 0 && root.Loops[w.side.Loop].Irreducible || root.Incomplete != "", CauseControlFlow, doubtEntries)
	add(slices.ContainsFunc(flow.Sites(t), func(s flow.Site) bool {
		op, _ := asm.OperationOf(s.Graph.Arch, s.Inst().Text)
		return op.Class == asm.ClassDivide
	}), CauseDivisions, doubtDivide)
	return list
}

// sharedFactor is how many times more, or fewer, mispredictions than on the average of all
// callers a function may have when it is called from the loop.
const sharedFactor = 2

// shared are the mispredictions of the first walk in functions that are called from
// elsewhere too: what was counted of their branches is of all callers.
func (w *work) shared() (misses float64, names []string) {
	t, root := w.walks[0], w.side.Code.Root
	visits := make(map[flow.Site]float64)
	missed := make(map[flow.Site]float64)
	for i := range t.Steps {
		st := &t.Steps[i]
		if st.Inst().Kind != disasm.Conditional {
			continue
		}
		visits[st.Site]++
		if st.Miss {
			missed[st.Site]++
		}
	}
	var here, counted float64
	for s, n := range visits {
		if s.Graph == root {
			here, counted = here+n, counted+w.branches(s).Executed
		}
	}
	if here == 0 || counted == 0 {
		return 0, nil
	}
	for s, n := range missed {
		from := visits[s]
		if s.Graph == root || (from+3*math.Sqrt(from))*counted/here > 0.8*w.branches(s).Executed {
			continue
		}
		misses += n
		if !slices.Contains(names, s.Graph.Name) {
			names = append(names, s.Graph.Name)
		}
	}
	slices.Sort(names)
	return misses, names
}
