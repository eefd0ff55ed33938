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
	share := func(k int64) float64 { return float64(k) / float64(total) }
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if cut := n[perfsession.StackCut]; share(cut) > badStacks {
		warn("%.1f%% of the stacks are cut off, they are below %s: %s", 100*share(cut), run.CutName, p.largerDump())
	}
	others := total - n[perfsession.StackWhole] - n[perfsession.StackCut]
	if share(others) <= badStacks {
		return
	}
	if none := n[perfsession.StackNoRegisters]; 2*none > others {
		warn("%.1f%% of the stacks cannot be unwound: the samples have no registers of a known machine", 100*share(none))
		return
	}
	worst := slices.MaxFunc(append(slices.Collect(maps.Keys(ends.In)), perfsession.StackEnd{}), func(a, b perfsession.StackEnd) int {
		return cmp.Or(cmp.Compare(ends.In[a], ends.In[b]), -cmp.Compare(pathOf(a.In), pathOf(b.In)), -cmp.Compare(a.Why, b.Why))
	})
	notWhole := fmt.Sprintf("%.1f%% of the stacks are not whole", 100*share(others))
	most := fmt.Sprintf("most (%d of %d)", ends.In[worst], others)
	switch {
	case worst.In == nil:
		warn("%s: they end outside of all files", notWhole)
	case worst.Why == perfsession.StackNoTable && !perfsession.IsFile(worst.In.Path):
		warn("%s: %s end in %s, code that was made while the program ran and has no unwind information: let the compiler keep frame pointers (java -XX:+PreserveFramePointer)", notWhole, most, worst.In.Path)
	case worst.Why == perfsession.StackNoTable:
		warn("%s: %s end in %s, which has no unwind information: build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer", notWhole, most, worst.In.Path)
	case worst.Why == perfsession.StackNoFile:
		warn("%s: %s end in %s, which is not here as it was recorded", notWhole, most, worst.In.Path)
	default:
		warn("%s: %s end in %s, whose unwind information leads out of the stack", notWhole, most, worst.In.Path)
	}
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
