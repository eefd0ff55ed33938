package compare

import (
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// TestCalls says how often functions were called, also where those that cost least are one.
func TestCalls(t *testing.T) {
	side := func(times int64) []*run.Run {
		var spec strings.Builder
		for i := range 12 {
			fmt.Fprintf(&spec, "cpu-cycles main a!f%d%s\n", i, strings.Repeat(" 10", 30*(i+1)))
		}
		r := runtest.Build(t, fmt.Sprint("run ", times), spec.String())
		r.Calls = make(map[uint32]int64)
		for i := range r.Functions {
			var k int64
			fmt.Sscanf(r.Functions[i].Name, "f%d", &k)
			r.Calls[uint32(i)] = times * (k + 1)
		}
		return []*run.Run{r}
	}
	for _, most := range []int{0, 6} {
		c := mustCompare(t, side(10), side(20), Options{Normalize: None, Most: most})
		base, head := c.Calls(0)
		for i, f := range c.Events[0].Functions {
			var want float64
			if f.Name != OtherFunctions {
				var k int
				fmt.Sscanf(f.Name, "f%d", &k)
				want = float64(10 * (k + 1))
			}
			if base[i] != want || head[i] != 2*want {
				t.Errorf("most %d: %s was called %v and %v times, want %v and %v", most, f.Name, base[i], head[i], want, 2*want)
			}
		}
	}
	if base, head := mustCompare(t, side(0), side(10), Options{Normalize: None}).Calls(0); base != nil || head != nil {
		t.Errorf("base does not tell, but it has %v and %v", base, head)
	}
}
