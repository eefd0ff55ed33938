package branch

import (
	"strings"
	"testing"
)

// TestCosts reads every line of the table.
func TestCosts(t *testing.T) {
	lines := 0
	for line := range strings.Lines(costTable) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "core\t") {
			lines++
		}
	}
	list := cores()
	if len(list) != lines || lines < 30 {
		t.Errorf("%d of %d lines are read", len(list), lines)
	}
	ids := make(map[string]string)
	for _, c := range list {
		if c.cycles < 5 || c.cycles > 30 || c.source == "" || c.ids == "" {
			t.Errorf("%+v", c)
		}
		if other := ids[c.ids]; other != "" && c.ids != "-" {
			t.Errorf("%s and %s have the same ids", c.name, other)
		}
		ids[c.ids] = c.name
	}
}

func TestCostOfCPUID(t *testing.T) {
	for _, test := range []struct{ cpuid, want string }{
		{"GenuineIntel,6,44,2", "nehalem"},
		{"GenuineIntel,6,42,7", "sandybridge"},
		{"GenuineIntel,6,78,3", "skylake"},
		{"GenuineIntel,6,85,4", "skylake"},
		{"GenuineIntel,6,143,8", "goldencove"},
		{"GenuineIntel,6,4,2", ""},
		{"GenuineIntel,15,44,2", ""},
		{"AuthenticAMD,23,1,2", "znver1"},
		{"AuthenticAMD,23,113,0", "znver2"},
		{"AuthenticAMD,25,33,0", "znver3"},
		{"AuthenticAMD,25,17,1", "znver4"},
		{"AuthenticAMD,26,2,1", "znver5"},
		{"0x00000000410fd0c0", "neoverse-n1"},
		{"0x411fd440", "cortex-x1"},
		{"0x00000000410fd083", ""}, // Cortex-A72 is not in the table
		{"IBM/S390,2964", ""},
		{"", ""},
	} {
		got := ""
		if c := costOfCPUID(test.cpuid); c != nil {
			got, _, _ = strings.Cut(c.Source, ":")
			if c.Lo >= c.Centre || c.Centre >= c.Hi || c.Hi != 2*c.Lo {
				t.Errorf("%s: %+v", test.cpuid, c)
			}
		}
		if got != test.want {
			t.Errorf("costOfCPUID(%q) is that of %q, want %q", test.cpuid, got, test.want)
		}
	}
	if c, err := CostOf("Neoverse-V2"); err != nil || c.Lo != 10 {
		t.Errorf("CostOf: %+v, %v", c, err)
	}
	if _, err := CostOf("z80"); err == nil || !strings.HasPrefix(err.Error(), `no core "z80" in the table of costs; it has cortex-a53, `) {
		t.Errorf("CostOf of an unknown core: %v", err)
	}
}
