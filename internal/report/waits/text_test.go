package waits

import (
	"strings"
	"testing"

	"profdiff/internal/wait"
)

// TestSectionOfUnknownHolders checks that waits of which nobody is known to be the cause are told before tables,
// too, if they matter.
func TestSectionOfUnknownHolders(t *testing.T) {
	for ns, want := range map[int64]string{
		5_534_000_000: "\nwaits for a lock (rule): 5.534 s in 1 wait; who had it is not known for 5.534 s in 1 wait\n",
		50_000:        "",
	} {
		sum := wait.Sum{Count: 1, TotalNS: ns, LongestNS: ns}
		var got strings.Builder
		r := &wait.Report{DurationNS: 6_000_000_000, Wanted: []wait.Wanted{{Rule: "rule", Region: "a lock", Sum: sum, Unknown: sum}}}
		if err := WriteSection(&got, r); err != nil || got.String() != want {
			t.Errorf("%d: %q, %v", ns, got.String(), err)
		}
	}
}
