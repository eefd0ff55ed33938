package compare

import (
	"math"
	"testing"
)

// TestRuns checks that the costs of the runs have the means that a change has, however
// costs are normalized.
func TestRuns(t *testing.T) {
	base, head := generateSides(3, 200, 800)
	for _, mode := range []Mode{None, Total, Reference} {
		c := mustCompare(t, base, head, Options{Normalize: mode})
		e := &c.Events[0]
		for i := range e.Functions {
			ch := &e.Functions[i].Self
			before, after := e.Normalization.Runs(ch)
			if len(before) != 3 || len(after) != 3 {
				t.Fatalf("%s: %d and %d runs", mode, len(before), len(after))
			}
			mean := func(list []float64) float64 { return (list[0] + list[1] + list[2]) / 3 }
			if math.Abs(mean(before)-ch.Base) > 1e-9*ch.Base || math.Abs(mean(after)-ch.Head) > 1e-9*ch.Head {
				t.Fatalf("%s: means %v and %v, want %v and %v", mode, mean(before), mean(after), ch.Base, ch.Head)
			}
		}
	}
}
