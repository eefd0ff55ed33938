package stats

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzRatio compares runs of any weights: all probabilities are between 0 and 1, the
// interval is one, and swapped sides mirror the result. n and m are the
// numbers of runs of base and head, and data has 8 bytes for each weight and 8 for its
// square.
func FuzzRatio(f *testing.F) {
	seed := func(n, m byte, values ...float64) {
		var data []byte
		for _, v := range values {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		f.Add(n, m, data)
	}
	seed(1, 1, 10, 10, 20, 20)
	seed(8, 9, 3, 3, 0, 0, 1, 1, 2, 4)
	seed(8, 8, 1e300, 1e300, 1e-300, 1e-300)
	seed(5, 5, 1e308, 0, 5e-324, 0)
	seed(2, 3, math.NaN(), 1)
	seed(30, 30, 1, 0, 2, 0, 2, 0)
	tests := New(0.95)
	f.Fuzz(func(t *testing.T, n, m byte, data []byte) {
		number := func(i int) float64 {
			if len(data) < 8 {
				return 1
			}
			i %= len(data) / 8
			return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		runs := func(n byte, from int) []WeightedCount {
			x := make([]WeightedCount, n%32)
			for i := range x {
				x[i] = WeightedCount{Weight: number(2 * (from + i)), WeightSq: number(2*(from+i) + 1)}
			}
			return x
		}
		base, head := runs(n, 0), runs(m, int(n%32))
		e, mirror := tests.Ratio(base, head), tests.Ratio(head, base)
		probability := func(what string, p float64) {
			if !(p >= 0 && p <= 1) {
				t.Errorf("%s = %v of %v against %v", what, p, base, head)
			}
		}
		probability("p", e.P)
		for _, limit := range []float64{0, 0.5, 1, 1.05, 1e300, math.Inf(1)} {
			probability("above", e.Above(limit))
			probability("below", e.Below(limit))
		}
		if !(e.CI.Lo >= 0 && e.CI.Lo <= e.CI.Hi) {
			t.Errorf("interval %v of %v against %v", e.CI, base, head)
		}
		if math.Abs(e.P-mirror.P) > 1e-6 {
			t.Errorf("p %v, mirrored %v, of %v against %v", e.P, mirror.P, base, head)
		}
		if d := e.SmallestDetectable(0.05, 0.9); !(d >= 0) {
			t.Errorf("detects %v of %v against %v", d, base, head)
		}
		if needed := e.RunsNeeded(0.05, 0.05, 0.9); needed != 0 && (needed < LeastRuns || needed > MaxRuns) {
			t.Errorf("%d runs needed of %v against %v", needed, base, head)
		}
	})
}
