package events

import (
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/perffile"
)

func TestEventCounts(t *testing.T) {
	for name, want := range map[string]branch.Counts{
		"br_inst_exec:taken":               branch.CountsTaken,
		"br_inst_retired.near_taken:upp":   branch.CountsTaken,
		"BR_INST_RETIRED.COND_NTAKEN:u":    branch.CountsOther,
		"br_inst_retired.not_taken":        branch.CountsOther,
		"br_misp_retired.all_branches:upp": branch.CountsMisses,
		"branch-misses:u":                  branch.CountsMisses,
		"br_mis_pred_retired":              branch.CountsMisses,
		"ex_ret_brn_misp":                  branch.CountsMisses,
		"ex_ret_brn_tkn":                   branch.CountsTaken,
		"branches:u":                       branch.CountsBranches,
		"branch-instructions":              branch.CountsBranches,
		"cpu_core/branch-instructions/":    branch.CountsBranches,
		"br_retired":                       branch.CountsBranches,
		"branch-load-misses":               branch.CountsMisses,
		"branch-loads":                     branch.CountsOther,
		"cycles:ppp":                       branch.CountsCycles,
		"cpu-cycles:u":                     branch.CountsCycles,
		"instructions:u":                   branch.CountsInstructions,
		"inst_retired.any":                 branch.CountsInstructions,
		"cache-misses":                     branch.CountsOther,
		"rc4":                              branch.CountsOther,
		"sched:sched_switch":               branch.CountsOther,
		"branches":                         branch.CountsBranches,
		"cpu_atom/branch-misses/u":         branch.CountsMisses,
		"cpu_core/branches/":               branch.CountsBranches,
		"armv8_pmuv3/br_mis_pred_retired/": branch.CountsMisses,
		"armv8_cortex_a55/br_retired/u":    branch.CountsBranches,
		"armv8_pmuv3_0/cpu_cycles/":        branch.CountsCycles,
		"armv8_pmuv3/inst_retired/":        branch.CountsInstructions,
		"raw-br-mis-pred-retired:u":        branch.CountsMisses,
		"raw-br-retired":                   branch.CountsBranches,
		"raw-cpu-cycles":                   branch.CountsCycles,
		"raw-br-immed-retired":             branch.CountsOther,
		"uncore_cbox_0/cycles/":            branch.CountsOther,
	} {
		if got := CountsByName(name); got != want {
			t.Errorf("eventCounts(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAttrCounts(t *testing.T) {
	arm := &perffile.Info{Arch: "aarch64", PMUs: []perffile.PMU{{Type: 8, Name: "armv8_cortex_a55"}, {Type: 9, Name: "arm_dsu_0"}}}
	intel := &perffile.Info{Arch: "x86_64", CPUID: "GenuineIntel,6,151,2", PMUs: []perffile.PMU{{Type: 10, Name: "cpu_atom"}}}
	for _, test := range []struct {
		name   string
		kind   perffile.EventType
		config uint64
		info   *perffile.Info
		want   branch.Counts
	}{
		{"r10", perffile.TypeRaw, 0x10, arm, branch.CountsMisses},
		{"r22", perffile.TypeRaw, 0x22, arm, branch.CountsMisses},
		{"r21", perffile.TypeRaw, 0x21, arm, branch.CountsBranches},
		{"r11", perffile.TypeRaw, 0x11, arm, branch.CountsOther},
		{"armv8_cortex_a55/event=0x22/", 8, 0x22, arm, branch.CountsMisses},
		{"arm_dsu_0/event=0x22/", 9, 0x22, arm, branch.CountsOther},
		{"r10", perffile.TypeRaw, 0x10, &perffile.Info{Arch: "armv7l"}, branch.CountsMisses},
		{"r22", perffile.TypeRaw, 0x22, &perffile.Info{Arch: "armv7l"}, branch.CountsOther},
		{"r22", perffile.TypeRaw, 0x22, intel, branch.CountsOther},
		{"rc5", perffile.TypeRaw, 0x00c5, intel, branch.CountsMisses},
		{"cpu_atom/event=0xc5/", 10, 0x00c5, intel, branch.CountsMisses},
		{"branch-misses", perffile.TypeHardware, 0xa00000005, intel, branch.CountsMisses},
		{"br_inst_retired.near_taken:upp", perffile.TypeRaw, 0x20c4, intel, branch.CountsTaken},
		{"cycles:u", perffile.TypeHardware, 0, arm, branch.CountsCycles},
		{"dTLB-loads", perffile.TypeHWCache, 3, arm, branch.CountsOther},
	} {
		a := &perffile.Attr{Type: test.kind, Config: test.config, Name: test.name}
		if got := CountsOf(a, test.info); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.name, test.info.Arch, got, test.want)
		}
	}
}
