package perfdata

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"profdiff/internal/perfsession"
	"profdiff/internal/run"
)

const (
	// badStacks is the share of stacks that are not whole from which on it is said why.
	badStacks = 0.05
	// maxDump is the largest dump of a stack that perf asks the kernel for: what a record has
	// room for (max_size in get_stack_size, tools/perf/util/callchain.c).
	maxDump = 65528
)

// accountStacks says what became of stacks that were recorded as memory.
func (p *reader) accountStacks() {
	ends := &p.session.Stats.Ends
	total := ends.Total()
	if total == 0 {
		return
	}
	n := &ends.Samples
	r := p.b.Run()
	r.Accounting.Unwound = run.Unwound{
		Whole: n[perfsession.StackWhole], Cut: n[perfsession.StackCut], NoTable: n[perfsession.StackNoTable],
		NoFile: n[perfsession.StackNoFile], RanOff: n[perfsession.StackRanOff], NoRegisters: n[perfsession.StackNoRegisters],
	}
	if cut := float64(n[perfsession.StackCut]) / float64(total); cut > badStacks {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%.1f%% of the stacks are cut off, they are below %s: %s", 100*cut, run.CutName, p.largerDump()))
	}
	if text := notWhole(ends); text != "" {
		r.Warnings = append(r.Warnings, text)
	}
}

// notWhole says why many stacks are neither whole nor cut off, and what helps; "" if few are.
func notWhole(ends *perfsession.StackEnds) string {
	n := &ends.Samples
	others := ends.Total() - n[perfsession.StackWhole] - n[perfsession.StackCut]
	percent := func(k int64) float64 { return 100 * float64(k) / float64(ends.Total()) }
	if percent(others) <= 100*badStacks {
		return ""
	}
	if none := n[perfsession.StackNoRegisters]; 2*none > others {
		return fmt.Sprintf("%.1f%% of the stacks cannot be unwound: the samples have no registers of a known machine", percent(none))
	}
	worst := slices.MaxFunc(append(slices.Collect(maps.Keys(ends.In)), perfsession.StackEnd{}), func(a, b perfsession.StackEnd) int {
		return cmp.Or(cmp.Compare(ends.In[a], ends.In[b]), -cmp.Compare(pathOf(a.In), pathOf(b.In)), -cmp.Compare(a.Why, b.Why))
	})
	text := fmt.Sprintf("%.1f%% of the stacks are not whole: ", percent(others))
	if worst.In == nil {
		return text + "they end outside of all files"
	}
	text += fmt.Sprintf("most (%d of %d) end in %s, ", ends.In[worst], others, worst.In.Path)
	switch {
	case worst.Why == perfsession.StackNoTable && !perfsession.IsFile(worst.In.Path):
		return text + "code that was made while the program ran and has no unwind information: let the compiler keep frame pointers (java -XX:+PreserveFramePointer)"
	case worst.Why == perfsession.StackNoTable:
		return text + "which has no unwind information: build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"
	case worst.Why == perfsession.StackNoFile:
		return text + "which is not here as it was recorded"
	}
	return text + "whose unwind information leads out of the stack"
}

func pathOf(d *perfsession.DSO) string {
	if d == nil {
		return ""
	}
	return d.Path
}

// largerDump says how to record more of stacks.
func (p *reader) largerDump() string {
	var size uint32
	for i := range p.file.Attrs {
		size = max(size, p.file.Attrs[i].SampleStackUser)
	}
	if size >= maxDump || p.file.Info.Simpleperf() {
		return "the kernel copies no more of a stack; frame pointers (--call-graph fp) reach farther"
	}
	return fmt.Sprintf("of each, %d bytes were recorded; record with --call-graph dwarf,%d and a lower -F", size, min(max(2*size, 16384), maxDump))
}
