package html

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/text"
)

func timed() comparetest.Options {
	opt := small()
	opt.Times = true
	return opt
}

// blockOf is a block of a page.
func blockOf[T any](t *testing.T, d *Document, name string) (v T) {
	t.Helper()
	blocks, err := encode(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.name != name {
			continue
		}
		if err := json.Unmarshal(uncompress(t, b.data), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Fatalf("there is no block %s", name)
	return v
}

// TestTimesSums checks that rows of threads and of stacks sum up to what each thread cost on each side and
// in each run, however much of them is left out.
func TestTimesSums(t *testing.T) {
	d := sample(t, timed())
	times := d.Events[0].Times
	want := make(map[string]float64) // by side or run, and thread
	runs := [2]float64{}
	for i := range times.Runs {
		runs[side(times.Runs[i].Head)]++
	}
	for i, r := range times.Runs {
		for k, row := range r.Weights {
			for _, w := range row {
				cost := float64(w) / r.Divisor
				want[fmt.Sprintf("run %d, thread %d", i, k)] += cost
				want[fmt.Sprintf("side %d, thread %d", side(r.Head), k)] += cost / runs[side(r.Head)]
			}
		}
	}
	check := func(b *timesBlock) {
		t.Helper()
		got := make(map[string]float64)
		at := 0
		sum := func(cells int, values []int64, quantum float64) (sum float64) {
			for ; cells > 0; cells-- {
				sum += float64(values[at]) * quantum
				at++
			}
			return sum
		}
		for i, cells := range b.Cells {
			row, thread := i/len(b.Threads), i%len(b.Threads)
			name := fmt.Sprintf("side %d, thread %d", row, thread)
			if row >= 2 {
				name = fmt.Sprintf("run %d, thread %d", row-2, thread)
			}
			got[name] = sum(cells, b.Value, b.Quantum)
		}
		for name, v := range got {
			if math.Abs(v-want[name]) > b.Quantum {
				t.Errorf("%s: %v, want %v within %v", name, v, want[name], b.Quantum)
			}
		}
		if n := len(b.Threads) * 2; len(got) < n || b.Single && len(got) != len(want) {
			t.Errorf("%d rows of %d", len(got), len(want))
		}
		at = 0
		clear(got)
		for i, cells := range b.Stacks.Cells {
			head := i >= b.Stacks.Head
			got[fmt.Sprintf("side %d, thread %d", side(head), b.Stacks.Thread[i])] += sum(cells, b.Stacks.Value, b.Stacks.Quantum)
		}
		if at != len(b.Stacks.Step) || (len(got) == 0) != (b.Stacks.Kept == 0) {
			t.Errorf("%d of %d cells of %d frames", at, len(b.Stacks.Step), b.Stacks.Kept)
		}
		for name, v := range got {
			if math.Abs(v-want[name]) > b.Stacks.Quantum {
				t.Errorf("stacks of %s: %v, want %v within %v", name, v, want[name], b.Stacks.Quantum)
			}
		}
	}
	whole := blockOf[timesBlock](t, d, "times0")
	check(&whole)
	if !whole.Single || whole.Stacks.Kept <= leastKept {
		t.Errorf("of a small page %d frames are told apart, single runs: %v", whole.Stacks.Kept, whole.Single)
	}
	// With less room, there is less, and in the end no stacks.
	at := make([]int32, len(d.Events[0].Frames.Level))
	for i := range at {
		at[i] = int32(i)
	}
	var gz compressor
	size, kept, single := math.MaxInt, whole.Stacks.Kept, true
	for _, room := range []int{20_000, 8000, 3000, 500} {
		data, err := encodeTimes(times, at, room, &gz, text.Clean)
		if err != nil {
			t.Fatal(err)
		}
		var b timesBlock
		if err := json.Unmarshal(uncompress(t, data), &b); err != nil {
			t.Fatal(err)
		}
		check(&b)
		if len(data) > size || b.Stacks.Kept > kept || b.Single && !single {
			t.Errorf("with room for %d: %d bytes, %d frames, single runs: %v", room, len(data), b.Stacks.Kept, b.Single)
		}
		if size, kept, single = len(data), b.Stacks.Kept, b.Single; size > room && kept > 0 {
			t.Errorf("with room for %d: %d bytes", room, size)
		}
	}
	if kept != 0 || single {
		t.Errorf("without room %d frames are told apart, single runs: %v", kept, single)
	}
}

// TestTimesPruned checks that what frames of a pruned tree cost over time is what they cost in all.
func TestTimesPruned(t *testing.T) {
	d := sample(t, timed())
	e := &d.Events[0]
	p := &pruner{all: &e.Frames}
	pruned := p.pruned(40)
	for i, at := range p.at {
		up := int32(i)
		for pruned.Function[at] != e.Frames.Function[up] || pruned.Level[at] != e.Frames.Level[up] {
			if up == 0 {
				t.Fatalf("frame %d is row %d, which is none above it", i, at)
			}
			level := e.Frames.Level[up]
			for up--; e.Frames.Level[up] != level-1; up-- {
			}
		}
	}
}

// TestNoTimes checks that a page of recordings without times has no block of them.
func TestNoTimes(t *testing.T) {
	blocks, err := encode(sample(t, small()))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.name == "times0" {
			t.Error("there is a block")
		}
	}
}
