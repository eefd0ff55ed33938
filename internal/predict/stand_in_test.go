package predict

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
)

// TestStandInsOfArm predicts the change of the comparator of Android's MessageQueue, with
// branches that nothing is known of, on cores that LLVM models by others. The authors' benchmarks
// became five times faster. Versions of LLVM must agree as far as their intervals say, and a model
// of another vendor's core must not be as sure as a core's own.
func TestStandInsOfArm(t *testing.T) {
	if testing.Short() {
		t.Skip("runs llvm-mca of three versions")
	}
	values := make(map[string][]Interval)
	tiers := make(map[string]Tier)
	for _, major := range []int{14, 19, 22} {
		tool, err := llvm.Find(t.Context(), fmt.Sprintf("/usr/lib/llvm-%d", major))
		if err != nil {
			t.Logf("LLVM %d: %v", major, err)
			continue
		}
		for _, cpu := range []string{"cortex-a76", "neoverse-n1", "neoverse-v1", "cortex-x1", "apple-m1"} {
			m, err := NewMachine(tool, asm.AArch64, cpu, nil)
			if err != nil {
				t.Fatal(err)
			}
			var sides [2]*Side
			for i, name := range []string{"branchy", "branchless"} {
				text, err := os.ReadFile(filepath.Join(casesDir, "comparator", name+".aarch64.s"))
				if err != nil {
					t.Fatal(err)
				}
				l, err := asm.Parse(string(text), asm.AArch64)
				if err != nil {
					t.Fatal(err)
				}
				if sides[i], err = ListingSide(l, name, "", 0); err != nil {
					t.Fatal(err)
				}
				sides[i].Work = 1
			}
			p := Predictor{Tool: tool, Machine: m}
			results, err := p.predict(t.Context(), []*Pair{{Name: cpu, Base: sides[0], Head: sides[1], Source: SourceAssumed}})
			if err != nil {
				t.Fatal(err)
			}
			s := results[0].Speedup
			t.Logf("LLVM %d: %s by %s (%s): ×%.2f [%.2f, %.2f]", major, cpu, m.Model.Name, m.tier(), s.Value, s.Lo, s.Hi)
			if s.Lo > 5 || s.Hi < 5 {
				t.Errorf("LLVM %d: %s: ×%.2f [%.2f, %.2f] has not the published ×5", major, cpu, s.Value, s.Lo, s.Hi)
			}
			if major == 14 && m.tier() != TierVendor {
				t.Errorf("LLVM 14: %s: the model of %s is taken for a good one", cpu, m.Model.StandIn)
			}
			if major > 14 {
				values[cpu] = append(values[cpu], s)
				tiers[cpu] = m.tier()
			}
		}
	}
	for cpu, list := range values {
		for _, s := range list {
			if e := math.Abs(math.Log(s.Value / list[0].Value)); e > math.Log(1.1) {
				t.Errorf("%s: ×%.2f and ×%.2f by two versions of LLVM that have the same model", cpu, s.Value, list[0].Value)
			}
		}
	}
	if len(tiers) > 0 && (tiers["apple-m1"] != TierVendor || tiers["neoverse-n1"] != TierRepaired || tiers["cortex-a76"] != TierRepaired) {
		t.Errorf("how well models are known: %v", tiers)
	}
}
