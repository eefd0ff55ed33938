package branch

import (
	"slices"
	"strings"

	"profdiff/internal/perffile"
)

// eventCounts tells by its name what an event counts.
func eventCounts(name string) Counts {
	pmu, event := splitPMU(name)
	if pmu != "" && !isCorePMU(pmu) && !strings.HasPrefix(pmu, "cpu") {
		return CountsOther // outside of the cores
	}
	n := strings.NewReplacer("-", "_", ".", "_", ":", "_", "/", "_").Replace(strings.ToLower(event))
	n = strings.TrimPrefix(n, "raw_") // as simpleperf names events of Arm
	branch := strings.Contains(n, "br_") || strings.Contains(n, "branch") || strings.Contains(n, "brn")
	switch {
	case branch && strings.Contains(n, "mis"):
		return CountsMisses
	case branch && strings.Contains(n, "load"), branch && strings.Contains(n, "store"): // branch-loads of the cache events
		return CountsOther
	case branch && (strings.Contains(n, "taken") || strings.Contains(n, "tkn")) && !strings.Contains(n, "not_taken") && !strings.Contains(n, "ntaken"):
		return CountsTaken
	case strings.HasPrefix(n, "br_inst_retired_all_branches"), strings.HasPrefix(n, "branches"), strings.HasPrefix(n, "branch_instructions"),
		strings.HasPrefix(n, "br_retired"), n == "br_inst_retired", strings.HasPrefix(n, "br_inst_retired_u"), strings.HasPrefix(n, "br_inst_retired_p"):
		return CountsBranches
	case strings.HasPrefix(n, "cycles"), strings.HasPrefix(n, "cpu_cycles"), strings.HasPrefix(n, "cpu_clk_unhalted_thread"):
		return CountsCycles
	case strings.HasPrefix(n, "instructions"), strings.HasPrefix(n, "inst_retired"):
		return CountsInstructions
	}
	return CountsOther
}

// attrCounts tells what an event counts, by its number if it is one of the kernel's or
// one of a CPU that is known.
func attrCounts(a *perffile.Attr, info *perffile.Info) Counts {
	switch a.Type {
	case perffile.TypeHardware:
		switch a.Config & 0xffffffff { // the upper half is the PMU of hybrid CPUs
		case 0:
			return CountsCycles
		case 1:
			return CountsInstructions
		case 4:
			return CountsBranches
		case 5:
			return CountsMisses
		}
		return CountsOther
	case perffile.TypeSoftware, perffile.TypeTracepoint, perffile.TypeHWCache, perffile.TypeBreakpoint:
		return eventCounts(a.Name)
	}
	if a.Type == perffile.TypeRaw || slices.ContainsFunc(info.PMUs, func(p perffile.PMU) bool { return p.Type == a.Type && (p.Name == "cpu" || isCorePMU(p.Name)) }) {
		if counts := rawCounts(a.Config, info); counts != CountsOther {
			return counts
		}
	}
	return eventCounts(a.Name)
}

// rawCounts tells what an event of a CPU counts by its number.
func rawCounts(config uint64, info *perffile.Info) Counts {
	event := config & 0xffff
	switch {
	case strings.HasPrefix(info.CPUID, "AuthenticAMD"):
		switch event & 0xff {
		case 0xc4: // retired taken branch instructions
			return CountsTaken
		case 0xc3:
			return CountsMisses
		}
	case strings.HasPrefix(info.CPUID, "GenuineIntel"):
		switch {
		case event == 0x20c4: // BR_INST_RETIRED.NEAR_TAKEN
			return CountsTaken
		case event == 0x00c4:
			return CountsBranches
		case event&0xff == 0xc5: // BR_MISP_RETIRED
			return CountsMisses
		}
	case isArm(info.Arch) && event == 0x10: // BR_MIS_PRED
		return CountsMisses
	case isArm(info.Arch) && !isArm32(info.Arch):
		switch event {
		case 0x22: // BR_MIS_PRED_RETIRED
			return CountsMisses
		case 0x21: // BR_RETIRED
			return CountsBranches
		}
	}
	return CountsOther
}
