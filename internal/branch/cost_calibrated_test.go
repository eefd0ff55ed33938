package branch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCalibratedCost(t *testing.T) {
	zen := CalibratedCost{CPUID: "AuthenticAMD,26,2,1", Name: "znver5", Cost: Cost{Lo: 21, Centre: 25, Hi: 29}}
	little := CalibratedCost{CPUID: "0x00000000411fd050", Name: "cortex-a55", Cost: Cost{Lo: 8, Centre: 9, Hi: 11}}
	big := CalibratedCost{CPUID: "0x00000000411fd440", Name: "cortex-x1", Cost: Cost{Lo: 11, Centre: 13, Hi: 22}}
	for name, test := range map[string]struct {
		known         []CalibratedCost
		cpuid         string
		want          *Cost
		source, warns string
	}{
		"of the core": {
			[]CalibratedCost{little, zen, big},
			"AuthenticAMD,26,2,0",
			&Cost{Lo: 21, Centre: 25, Hi: 29}, "calibrated on znver5", "",
		},
		"another revision": {
			[]CalibratedCost{little, big},
			"0x00000000410fd44f",
			&Cost{Lo: 11, Centre: 13, Hi: 22}, "calibrated on cortex-x1", "",
		},
		"other core": {
			[]CalibratedCost{zen},
			"GenuineIntel,6,85,4",
			&Cost{Lo: 14, Centre: 22.400000000000002, Hi: 28}, "skylake: 14 cycles", "is of the CPU GenuineIntel,6,85,4, but the cost of a miss was calibrated on znver5, and is not used",
		},
		"other core that is not in the table": {
			[]CalibratedCost{zen},
			"GenuineIntel,15,4,1",
			nil, "", "and is not used",
		},
		"not named": {
			[]CalibratedCost{little, big},
			"",
			&Cost{Lo: 8, Centre: 11, Hi: 22}, "calibrated on cortex-a55, cortex-x1", "does not name its CPU: the cost of a miss is that calibrated on cortex-a55, cortex-x1",
		},
		"none": {
			nil, "GenuineIntel,6,85,4",
			&Cost{Lo: 14, Centre: 22.400000000000002, Hi: 28}, "skylake: 14 cycles", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			opt := Options{Calibrated: test.known}
			got, warning := opt.CostOn(test.cpuid)
			if !strings.Contains(warning, test.warns) || (test.warns == "") != (warning == "") {
				t.Errorf("warning %q, want %q", warning, test.warns)
			}
			if got != nil {
				if !strings.HasPrefix(got.Source, test.source) {
					t.Errorf("source %q, want %q", got.Source, test.source)
				}
				got = &Cost{Lo: got.Lo, Centre: got.Centre, Hi: got.Hi}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	explicit := &Cost{Lo: 1, Centre: 2, Hi: 3}
	opt := Options{Cost: explicit, Calibrated: []CalibratedCost{zen, little}}
	if got, warning := opt.CostOn("AuthenticAMD,26,2,1"); got != explicit || warning != "" {
		t.Errorf("explicit cost: %+v, %q", got, warning)
	}
	if got := opt.CostOfPMU("armv8_cortex_a55"); got == nil || got.Lo != 8 {
		t.Errorf("PMU of a calibrated core: %+v", got)
	}
	if got := opt.CostOfPMU("armv8_cortex_a78"); got == nil || got.Lo != 14 {
		t.Errorf("PMU of another core: %+v", got)
	}
	if got := opt.CostOfPMU("cpu"); got != nil {
		t.Errorf("PMU without a name: %+v", got)
	}
	if got := CoreName("AuthenticAMD,26,2,1") + CoreName("") + CoreName("0x411fd440"); got != "znver5cortex-x1" {
		t.Errorf("names %q", got)
	}
}
