package branch

import (
	"strings"

	"profdiff/internal/perffile"
)

// eventCounts tells by its name what an event counts.
func eventCounts(name string) Counts {
	n := strings.NewReplacer("-", "_", ".", "_", ":", "_", "/", "_").Replace(strings.ToLower(name))
	n = strings.TrimPrefix(strings.TrimPrefix(n, "cpu_core_"), "cpu_atom_")
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
	cpuid := info.CPUID
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
	case perffile.TypeRaw:
		switch event := a.Config & 0xffff; {
		case strings.HasPrefix(cpuid, "AuthenticAMD") && event&0xff == 0xc4: // retired taken branch instructions
			return CountsTaken
		case strings.HasPrefix(cpuid, "AuthenticAMD") && (event&0xff == 0xc3):
			return CountsMisses
		case strings.HasPrefix(cpuid, "GenuineIntel") && event == 0x20c4: // BR_INST_RETIRED.NEAR_TAKEN
			return CountsTaken
		case strings.HasPrefix(cpuid, "GenuineIntel") && event == 0x00c4:
			return CountsBranches
		case strings.HasPrefix(cpuid, "GenuineIntel") && event&0xff == 0xc5: // BR_MISP_RETIRED
			return CountsMisses
		case info.Arch == "aarch64" && (event == 0x10 || event == 0x22): // BR_MIS_PRED, BR_MIS_PRED_RETIRED
			return CountsMisses
		case info.Arch == "aarch64" && event == 0x21: // BR_RETIRED
			return CountsBranches
		}
	}
	return eventCounts(a.Name)
}
