package recording

import (
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/totals"
)

func FuzzStatText(f *testing.F) {
	f.Add(" Performance counter stats for './app':\n 1,234 branch-misses:u # 7% of all branches ( +- 0.5% ) (83.21%)\n 5 branches\n 1 seconds time elapsed\n")
	f.Add("Performance counter statistics:\n\n# count  event_name # count / runtime\n 5 r22:u # 1.6 M/sec (75%)\n 688.190(ms) task-clock\nTotal test time: 1 seconds.\n")
	f.Add(" Performance counter stats for 'a' (2 runs):\n <not counted> cycles\n ( 1%)\n 9 (\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := branch.ReadStatText("x", strings.NewReader(text))
		if (s == nil) == (err == nil) {
			t.Fatalf("stat %v and error %v", s != nil, err)
		}
		if err != nil {
			return
		}
		for _, c := range s.Counters {
			if !(c.Value >= 0) || !(c.Running >= 0 && c.Running <= 1) || c.Name == "" {
				t.Errorf("counter %+v", c)
			}
		}
		if table, err := totals.Table(s, &branch.Options{}); err == nil {
			for _, x := range table.Totals {
				branchtest.CheckRatio(t, x.Rate)
				branchtest.CheckRatio(t, x.MPKI)
			}
		}
	})
}
