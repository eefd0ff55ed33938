package perfdata

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"profdiff/internal/run"
)

// leastStrays is the number of such stacks that is more than chance.
const leastStrays = 20

// accountStrays says why stacks that frame pointers led to end at addresses that are in no
// file: a function without one leaves whatever it computes in the register, and who follows
// it ends in data. Callers are missing then, and the others may be wrong.
func accountStrays(r *run.Run, simpleperf bool) {
	unknown := run.UnknownFunctionName("unknown")
	stray := func(loc uint32) bool {
		l := &r.Locations[loc]
		return l.Mapping == 0 && r.Functions[l.Lines[0].Function].Name == unknown
	}
	isStray := make([]bool, len(r.Locations))
	for i := range isStray {
		isStray[i] = stray(uint32(i))
	}
	if !slices.Contains(isStray, true) {
		accountIncomplete(r, simpleperf)
		return
	}
	// Of each stack that ends so: the location behind the strays, or its leaf if it has no
	// other, + 1. Parents precede their children.
	last := make([]uint32, r.Stacks.Len())
	for id := 1; id < len(last); id++ {
		caller, loc := r.Stacks.Parent(run.StackID(id)), r.Stacks.Location(run.StackID(id))
		switch {
		case caller == 0 && !isStray[loc]:
		case caller == 0, last[caller] != 0 && isStray[last[caller]-1]:
			last[id] = loc + 1
		default:
			last[id] = last[caller]
		}
	}
	var strays, all int64
	behind := make(map[string]int64)
	for i := range r.Samples {
		s := &r.Samples[i]
		all += s.Count
		if loc := last[s.Stack]; loc != 0 && r.Stacks.Parent(s.Stack) != 0 {
			strays += s.Count
			behind[r.Mappings[r.Locations[loc-1].Mapping].File] += s.Count
		}
	}
	share := float64(strays) / float64(max(all, 1))
	if strays < leastStrays || share <= badStacks {
		accountIncomplete(r, simpleperf)
		return
	}
	most := slices.MaxFunc(slices.Collect(maps.Keys(behind)), func(a, b string) int {
		return cmp.Or(cmp.Compare(behind[a], behind[b]), -cmp.Compare(a, b))
	})
	r.Warnings = append(r.Warnings, fmt.Sprintf("%.1f%% of the stacks end at addresses that are in no file, most of them behind %s, "+
		"which seems to be built without frame pointers: --call-graph dwarf records whole stacks", 100*share, path.Base(most)))
}

// accountIncomplete says how many call chains lack callers, where it is not said why.
func accountIncomplete(r *run.Run, simpleperf bool) {
	share := float64(r.Accounting.TruncatedStacks) / float64(max(r.Accounting.In, 1))
	if share <= 0.01 {
		return
	}
	advice := ": --call-graph dwarf records whole stacks, or build with -fno-omit-frame-pointer"
	if simpleperf {
		advice = ""
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("%.1f%% of the call chains are incomplete%s", 100*share, advice))
}
