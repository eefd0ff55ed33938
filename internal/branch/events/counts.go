// Package events tells what the events of recordings count, and which go together.
//
//  1. An event is known by its number if it is one of the kernel's or of a CPU that is
//     known, else by its name.
//  2. Events of one PMU that count in the same modes, user or kernel or both, make a [Set]:
//     misses, branches, instructions and cycles. Of several that count the same, the one of
//     retired instructions is taken.
package events

import (
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/perffile"
)

// CountsByName tells by its name what an event counts.
func CountsByName(name string) branch.Counts {
	pmu, event := SplitPMU(name)
	if pmu != "" && !IsCorePMU(pmu) && !strings.HasPrefix(pmu, "cpu") {
		return branch.CountsOther // outside of the cores
	}
	n := strings.NewReplacer("-", "_", ".", "_", ":", "_", "/", "_").Replace(strings.ToLower(event))
	n = strings.TrimPrefix(n, "raw_") // as simpleperf names events of Arm
	isBranch := strings.Contains(n, "br_") || strings.Contains(n, "branch") || strings.Contains(n, "brn")
	switch {
	case isBranch && strings.Contains(n, "mis"):
		return branch.CountsMisses
	case isBranch && strings.Contains(n, "load"), isBranch && strings.Contains(n, "store"): // branch-loads of the cache events
		return branch.CountsOther
	case isBranch && (strings.Contains(n, "taken") || strings.Contains(n, "tkn")) && !strings.Contains(n, "not_taken") && !strings.Contains(n, "ntaken"):
		return branch.CountsTaken
	case strings.HasPrefix(n, "br_inst_retired_all_branches"), strings.HasPrefix(n, "branches"), strings.HasPrefix(n, "branch_instructions"),
		strings.HasPrefix(n, "br_retired"), n == "br_inst_retired", strings.HasPrefix(n, "br_inst_retired_u"), strings.HasPrefix(n, "br_inst_retired_p"):
		return branch.CountsBranches
	case strings.HasPrefix(n, "cycles"), strings.HasPrefix(n, "cpu_cycles"), strings.HasPrefix(n, "cpu_clk_unhalted_thread"):
		return branch.CountsCycles
	case strings.HasPrefix(n, "instructions"), strings.HasPrefix(n, "inst_retired"):
		return branch.CountsInstructions
	}
	return branch.CountsOther
}

// CountsOf tells what an event counts, by its number if it is one of the kernel's or
// one of a CPU that is known.
func CountsOf(a *perffile.Attr, info *perffile.Info) branch.Counts {
	switch a.Type {
	case perffile.TypeHardware:
		switch a.Config & 0xffffffff { // the upper half is the PMU of hybrid CPUs
		case 0:
			return branch.CountsCycles
		case 1:
			return branch.CountsInstructions
		case 4:
			return branch.CountsBranches
		case 5:
			return branch.CountsMisses
		}
		return branch.CountsOther
	case perffile.TypeSoftware, perffile.TypeTracepoint, perffile.TypeHWCache, perffile.TypeBreakpoint:
		return CountsByName(a.Name)
	}
	if a.Type == perffile.TypeRaw || slices.ContainsFunc(info.PMUs, func(p perffile.PMU) bool { return p.Type == a.Type && (p.Name == "cpu" || IsCorePMU(p.Name)) }) {
		if counts := rawCounts(a.Config, info); counts != branch.CountsOther {
			return counts
		}
	}
	return CountsByName(a.Name)
}

// rawCounts tells what an event of a CPU counts by its number.
func rawCounts(config uint64, info *perffile.Info) branch.Counts {
	event := config & 0xffff
	switch {
	case strings.HasPrefix(info.CPUID, "AuthenticAMD"):
		switch event & 0xff {
		case 0xc4: // retired taken branch instructions
			return branch.CountsTaken
		case 0xc3:
			return branch.CountsMisses
		}
	case strings.HasPrefix(info.CPUID, "GenuineIntel"):
		switch {
		case event == 0x20c4: // BR_INST_RETIRED.NEAR_TAKEN
			return branch.CountsTaken
		case event == 0x00c4:
			return branch.CountsBranches
		case event&0xff == 0xc5: // BR_MISP_RETIRED
			return branch.CountsMisses
		}
	case IsArm(info.Arch) && event == 0x10: // BR_MIS_PRED
		return branch.CountsMisses
	case IsArm(info.Arch) && !isArm32(info.Arch):
		switch event {
		case 0x22: // BR_MIS_PRED_RETIRED
			return branch.CountsMisses
		case 0x21: // BR_RETIRED
			return branch.CountsBranches
		}
	}
	return branch.CountsOther
}
