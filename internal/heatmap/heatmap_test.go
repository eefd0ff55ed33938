package heatmap

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAxis(t *testing.T) {
	const second = 1_000_000_000
	for _, test := range []struct {
		longest int64
		samples int
		last    bool
		want    Axis
	}{
		{10 * second, 1 << 20, false, Axis{second / 20, 201}},
		{7 * second, 1 << 20, false, Axis{second / 50, 351}},
		{7 * second, 600, false, Axis{second / 20, 141}},
		{7 * second, 5, false, Axis{second / 5, 36}},
		{7 * second, 5, true, Axis{second / 50, 351}},
		{1, 1, true, Axis{1, 2}},
		{0, 0, false, Axis{1, 2}},
		{1<<63 - 1, 1 << 20, false, Axis{50_000_000_000_000_000, 185}},
	} {
		got := NewAxis(test.longest, test.samples, test.last)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%d ns, %d samples: %s", test.longest, test.samples, diff)
		}
		if got.Of(test.longest) < got.Bins-2 || got.Of(-5) != 0 {
			t.Errorf("%d ns end in bin %d of %d", test.longest, got.Of(test.longest), got.Bins)
		}
	}
}

func TestSpread(t *testing.T) {
	axis := Axis{10, 5}
	for _, test := range []struct {
		start, end, weight int64
		want               []int64
	}{
		{0, 50, 50, []int64{10, 10, 10, 10, 10}},
		{5, 25, 20, []int64{5, 10, 5, 0, 0}},
		{5, 25, 7, []int64{1, 4, 2, 0, 0}},
		{12, 12, 9, []int64{0, 9, 0, 0, 0}},
		{45, 400, 355, []int64{0, 0, 0, 0, 355}},
		{0, 20, 1<<63 - 1, []int64{1<<62 - 1, 1 << 62, 0, 0, 0}},
		{30, 10, 3, []int64{0, 3, 0, 0, 0}},
	} {
		got := make([]int64, axis.Bins)
		axis.Spread(test.start, test.end, test.weight, func(bin int, part int64) { got[bin] += part })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v: %s", test, diff)
		}
	}
}

// TestFrames adds more cells than there is room for: no cost gets lost, and none changes side, thread or bin.
func TestFrames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parent := make([]int32, 5000)
	for i := 1; i < len(parent); i++ {
		parent[i] = int32(rng.IntN(i))
	}
	type place struct {
		head        bool
		thread, bin int
	}
	f, want := NewFrames(parent), make(map[place]float64)
	for range 3 * mostCells {
		c := Cell{Head: rng.IntN(2) == 1, Thread: rng.IntN(20), Bin: rng.IntN(MostBins), Frame: int32(rng.IntN(len(parent))), Weight: float64(rng.IntN(100))}
		f.Add(c)
		want[place{c.Head, c.Thread, c.Bin}] += c.Weight
	}
	if f.Kept() == MostFrames || f.Kept() == 0 {
		t.Errorf("%d frames are told apart", f.Kept())
	}
	check := func(f *Frames) {
		t.Helper()
		got := make(map[place]float64)
		var last Cell
		f.Cells(func(c Cell) {
			if int(c.Frame) >= f.Kept() {
				t.Fatalf("frame %d of %d", c.Frame, f.Kept())
			}
			if c.Head == last.Head && (c.Thread < last.Thread || c.Thread == last.Thread && (c.Frame < last.Frame || c.Frame == last.Frame && c.Bin < last.Bin)) {
				t.Fatalf("%+v follows %+v", c, last)
			}
			last = c
			got[place{c.Head, c.Thread, c.Bin}] += c.Weight
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	check(f)
	few := f.Clone()
	few.Keep(7)
	check(few)
	check(f)
	few.Keep(0)
	few.Cells(func(c Cell) { t.Errorf("%+v is left", c) })
}
