package predict

import (
	"testing"

	"profdiff/internal/llvm"
	"profdiff/internal/predict/core"
)

// Probes tell less of a core that they were not made for, and nobody is sent to calibrate where
// that makes an interval wider.
func TestTier(t *testing.T) {
	probed := &core.Core{}
	for _, tt := range []struct {
		name   string
		m      Machine
		want   Tier
		remedy Remedy
	}{
		{"fitted", Machine{Model: llvm.Model{CPU: "znver5"}, Core: &core.Core{Fitted: map[string]string{"refill": "kernels"}}}, TierFitted, ""},
		{"probed", Machine{Model: llvm.Model{CPU: "emeraldrapids"}, Core: probed}, TierProbed, ""},
		{"the same core", Machine{Model: llvm.Model{CPU: "sapphirerapids"}, Core: probed}, TierProbed, ""},
		{"another core", Machine{Model: llvm.Model{CPU: "neoverse-n1"}, Core: probed}, TierCalibrated, ""},
		{"a model of a core that was tried", Machine{Model: llvm.Model{CPU: "sapphirerapids", Kinship: llvm.KinOwn}}, TierRepaired, RemedyCalibrate},
		{"a model of another", Machine{Model: llvm.Model{CPU: "neoverse-n1", Kinship: llvm.KinOwn}}, TierRepaired, ""},
		{"of another generation", Machine{Model: llvm.Model{CPU: "lunarlake", Kinship: llvm.KinGeneration}}, TierGeneration, RemedyCalibrate},
		{"of another vendor", Machine{Model: llvm.Model{CPU: "lunarlake", Kinship: llvm.KinVendor}}, TierVendor, RemedyCalibrate},
	} {
		if got := tt.m.tier(); got != tt.want || got.remedy(tt.m.Model.CPU) != tt.remedy {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, got, got.remedy(tt.m.Model.CPU), tt.want, tt.remedy)
		}
	}
}
