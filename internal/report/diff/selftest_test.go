package diff

import (
	"math"
	"strings"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/report/text"
)

// TestSelfTestFits checks that no line is wider than the screen, and that the least change that shows is
// on it.
func TestSelfTestFits(t *testing.T) {
	test := &compare.SelfTest{
		Event: "cpu-clock", Runs: 20,
		Interleaved: compare.Splits{Number: 10, Tests: 220, Significant: 11, Totals: 1}, Blocked: compare.Splits{Number: 1},
		Total: compare.FunctionNoise{Share: 1, Samples: 1234.5, Deviation: 0.0123, Sampling: 0.004, Runs: 0.0116, Smallest: 0.0456},
		Functions: []compare.FunctionNoise{
			{Name: "std::map<long, std::vector<int>>::emplace(int, char const*)", DSO: "/usr/lib/x86_64-linux-gnu/libexample.so.6", Share: 0.62, Samples: 765, Deviation: 0.02, Smallest: 0.0789},
			{Name: "main", DSO: "example", Share: 0.2, Samples: 12, Deviation: 0.2, Smallest: math.Inf(1)},
		},
	}
	for _, width := range []int{60, 80, 120} {
		var out strings.Builder
		screen := text.NewScreen(&out, width, false)
		if err := WriteSelfTest(screen, test, 0); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if w := text.Width(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("%d columns: a line of %d: %s", width, w, line)
			}
		}
		for _, want := range []string{"±4.6%", "±7.9%", "main", "62.0%"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%d columns: no %s in\n%s", width, want, out.String())
			}
		}
	}
}
