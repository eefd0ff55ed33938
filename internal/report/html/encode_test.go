package html

import (
	"encoding/json"
	"testing"

	"profdiff/internal/report/diff"
)

// TestCostsOfRunsAreBounded has more runs than a page has room for: the functions that cost most
// have all of theirs, the others none.
func TestCostsOfRunsAreBounded(t *testing.T) {
	for _, tt := range []struct{ functions, runs, want int }{
		{100, 10, 100}, {300, 10, 250}, {300, 1000, 50},
	} {
		changes := make([]diff.Change, tt.functions)
		for i := range changes {
			changes[i] = diff.Change{Tested: true, Base: float64(i), BaseRuns: make([]float64, tt.runs), HeadRuns: make([]float64, tt.runs)}
		}
		c := &columns{}
		tests(c, "self", tt.functions, func(i int) *diff.Change { return &changes[i] })
		var got struct {
			Self struct {
				WithRuns           []int
				BaseRuns, HeadRuns [][]float64
			}
		}
		if err := json.Unmarshal(append(c.buf, '}'), &got); err != nil {
			t.Fatalf("%v: %s", err, c.buf)
		}
		self := got.Self
		if len(self.WithRuns) != tt.want || len(self.BaseRuns) != tt.want || len(self.HeadRuns) != tt.want {
			t.Fatalf("%d functions, %d runs a side: %d have costs of runs, want %d", tt.functions, tt.runs, len(self.WithRuns), tt.want)
		}
		if first := tt.functions - tt.want; self.WithRuns[0] != first {
			t.Errorf("%d functions, %d runs a side: the first with costs of runs is %d, want %d", tt.functions, tt.runs, self.WithRuns[0], first)
		}
		if n := len(self.BaseRuns[0]); n != tt.runs {
			t.Errorf("%d runs: a function has %d costs", tt.runs, n)
		}
	}
}
