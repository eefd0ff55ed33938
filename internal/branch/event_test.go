package branch

import "testing"

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
	} {
		if got := eventCounts(name); got != want {
			t.Errorf("eventCounts(%q) = %q, want %q", name, got, want)
		}
	}
}
