package branch

import (
	"testing"

	"profdiff/internal/perffile"
)

func TestEventCounts(t *testing.T) {
	for name, want := range map[string]Counts{
		"br_inst_exec:taken":               CountsTaken,
		"br_inst_retired.near_taken:upp":   CountsTaken,
		"BR_INST_RETIRED.COND_NTAKEN:u":    CountsOther,
		"br_inst_retired.not_taken":        CountsOther,
		"br_misp_retired.all_branches:upp": CountsMisses,
		"branch-misses:u":                  CountsMisses,
		"br_mis_pred_retired":              CountsMisses,
		"ex_ret_brn_misp":                  CountsMisses,
		"ex_ret_brn_tkn":                   CountsTaken,
		"branches:u":                       CountsBranches,
		"branch-instructions":              CountsBranches,
		"cpu_core/branch-instructions/":    CountsBranches,
		"br_retired":                       CountsBranches,
		"branch-load-misses":               CountsMisses,
		"branch-loads":                     CountsOther,
		"cycles:ppp":                       CountsCycles,
		"cpu-cycles:u":                     CountsCycles,
		"instructions:u":                   CountsInstructions,
		"inst_retired.any":                 CountsInstructions,
		"cache-misses":                     CountsOther,
		"rc4":                              CountsOther,
		"sched:sched_switch":               CountsOther,
		"branches":                         CountsBranches,
		"cpu_atom/branch-misses/u":         CountsMisses,
		"cpu_core/branches/":               CountsBranches,
		"armv8_pmuv3/br_mis_pred_retired/": CountsMisses,
		"armv8_cortex_a55/br_retired/u":    CountsBranches,
		"armv8_pmuv3_0/cpu_cycles/":        CountsCycles,
		"armv8_pmuv3/inst_retired/":        CountsInstructions,
		"raw-br-mis-pred-retired:u":        CountsMisses,
		"raw-br-retired":                   CountsBranches,
		"raw-cpu-cycles":                   CountsCycles,
		"raw-br-immed-retired":             CountsOther,
		"uncore_cbox_0/cycles/":            CountsOther,
	} {
		if got := eventCounts(name); got != want {
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
		want   Counts
	}{
		{"r10", perffile.TypeRaw, 0x10, arm, CountsMisses},
		{"r22", perffile.TypeRaw, 0x22, arm, CountsMisses},
		{"r21", perffile.TypeRaw, 0x21, arm, CountsBranches},
		{"r11", perffile.TypeRaw, 0x11, arm, CountsOther},
		{"armv8_cortex_a55/event=0x22/", 8, 0x22, arm, CountsMisses},
		{"arm_dsu_0/event=0x22/", 9, 0x22, arm, CountsOther},
		{"r10", perffile.TypeRaw, 0x10, &perffile.Info{Arch: "armv7l"}, CountsMisses},
		{"r22", perffile.TypeRaw, 0x22, &perffile.Info{Arch: "armv7l"}, CountsOther},
		{"r22", perffile.TypeRaw, 0x22, intel, CountsOther},
		{"rc5", perffile.TypeRaw, 0x00c5, intel, CountsMisses},
		{"cpu_atom/event=0xc5/", 10, 0x00c5, intel, CountsMisses},
		{"branch-misses", perffile.TypeHardware, 0xa00000005, intel, CountsMisses},
		{"br_inst_retired.near_taken:upp", perffile.TypeRaw, 0x20c4, intel, CountsTaken},
		{"cycles:u", perffile.TypeHardware, 0, arm, CountsCycles},
		{"dTLB-loads", perffile.TypeHWCache, 3, arm, CountsOther},
	} {
		a := &perffile.Attr{Type: test.kind, Config: test.config, Name: test.name}
		if got := attrCounts(a, test.info); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.name, test.info.Arch, got, test.want)
		}
	}
}
