package html

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
)

// totalsOf are the costs of a tree by level: what pruning must not change.
func totalsOf(f *diff.Frames) (base, head float64) {
	for i := range f.Base {
		base += f.Base[i]
		head += f.Head[i]
	}
	return base, head
}

func pruned(f *diff.Frames, limit int) diff.Frames { return (&pruner{all: f}).pruned(limit) }

func TestPruned(t *testing.T) {
	// main: a (x, y), b (x); of them a.y is heavy, b.x decided though light.
	all := diff.Frames{
		Level:    []int32{0, 1, 2, 3, 3, 2, 3, 4},
		Function: []int32{-1, 0, 1, 2, 3, 4, 2, 5},
		Base:     []float64{0, 0, 1, 2, 90, 3, 1, 1},
		Head:     []float64{0, 0, 1, 3, 80, 4, 2, 1},
		Flags:    []diff.FrameFlags{0, 0, 0, 0, 0, 0, diff.Grew, diff.OnlyHead},
		All:      8,
	}
	got := pruned(&all, 4)
	want := diff.Frames{
		Level:    []int32{0, 1, 2, 3, 3, 2, 3, 4},
		Function: []int32{-1, 0, 1, 3, -2, 4, 2, -2},
		Base:     []float64{0, 0, 1, 90, 2, 3, 1, 1},
		Head:     []float64{0, 0, 1, 80, 3, 4, 2, 1},
		Flags:    []diff.FrameFlags{0, 0, 0, 0, 0, 0, diff.Grew, 0},
		All:      8, Least: got.Least,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("pruned (-want +got):\n%s", d)
	}
	if unchanged := pruned(&all, 8); cmp.Diff(all, unchanged) != "" {
		t.Error("a tree within the limit changed")
	}
}

func TestNthSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	values := []float64{0, math.Copysign(0, -1), -3, 1e-300, math.Inf(1), 7, 7, 7}
	for range 200 {
		values = append(values, math.Exp(20*rng.NormFloat64()), math.Round(rng.NormFloat64()))
	}
	sorted := slices.Sorted(slices.Values(values))
	for k, want := range sorted {
		if got := nthSmallest(values, k); got != want {
			t.Errorf("the %dth is %v, want %v", k, got, want)
		}
	}
}

func TestPrunedSums(t *testing.T) {
	c, err := comparetest.Compare(comparetest.Options{Frames: 5000, Depth: 40, Runs: 8, Change: true})
	if err != nil {
		t.Fatal(err)
	}
	all := document(c).Events[0].Frames
	decided := func(f *diff.Frames) (n int) {
		for _, flags := range f.Flags {
			if flags&(diff.Grew|diff.Shrank) != 0 {
				n++
			}
		}
		return n
	}
	if decided(&all) == 0 {
		t.Fatal("no frame changed")
	}
	prune := &pruner{all: &all}
	for _, limit := range []int{4999, 2000, 300, 1} {
		got := prune.pruned(limit)
		kept, left := 0, 0
		for _, fn := range got.Function[1:] {
			if fn < 0 {
				left += int(-1 - fn)
			} else {
				kept++
			}
		}
		if kept+left+1 != len(all.Level) {
			t.Errorf("limit %d: %d frames kept and %d left out, of %d", limit, kept, left, len(all.Level)-1)
		}
		if kept > limit+decided(&all)*40 {
			t.Errorf("limit %d: %d frames are kept", limit, kept)
		}
		if decided(&got) != decided(&all) {
			t.Errorf("limit %d: %d decided frames, of %d", limit, decided(&got), decided(&all))
		}
		wantBase, wantHead := totalsOf(&all)
		gotBase, gotHead := totalsOf(&got)
		if math.Abs(gotBase/wantBase-1) > 1e-12 || math.Abs(gotHead/wantHead-1) > 1e-12 {
			t.Errorf("limit %d: totals %v and %v, want %v and %v", limit, gotBase, gotHead, wantBase, wantHead)
		}
	}
}

// TestFrameSums checks that no total of a frame is off by more than a quantum after
// encoding, which is a sample of a run where all samples stand for as much, else a hundredth of a sample.
func TestFrameSums(t *testing.T) {
	for name, alike := range map[string]bool{"samples of one period": true, "samples of all periods": false} {
		t.Run(name, func(t *testing.T) { frameSums(t, alike) })
	}
}

func frameSums(t *testing.T, alike bool) {
	c, err := comparetest.Compare(comparetest.Options{Frames: 3000, Depth: 30, Runs: 3, Change: true})
	if err != nil {
		t.Fatal(err)
	}
	d := FromComparison(document(c), Options{})
	e := &d.Events[0]
	if !alike {
		vary(e)
	}
	index := make([]int, len(e.Functions))
	for i := range index {
		index[i] = i
	}
	var got frameBlock
	if err := json.Unmarshal(frameColumns(e, quantize(e), index, nil), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Up) != len(e.Frames.Level) || len(got.Flags) != len(e.Frames.Level) {
		t.Fatalf("%d frames, want %d", len(got.Up), len(e.Frames.Level))
	}
	decoded := diff.Frames{Base: make([]float64, len(got.Up)), Head: make([]float64, len(got.Up))}
	last, leaf := int32(-1), 0
	for i, up := range got.Up {
		last += int32(1 - up)
		decoded.Level = append(decoded.Level, last)
		if i+1 == len(got.Up) || got.Up[i+1] > 0 {
			decoded.Base[i], decoded.Head[i] = float64(got.Base[leaf])*got.Quantum, float64(got.Head[leaf])*got.Quantum
			leaf++
		}
	}
	inner := 0
	for k, step := range got.InnerAt {
		inner += step
		decoded.Base[inner], decoded.Head[inner] = float64(got.InnerBase[k])*got.Quantum, float64(got.InnerHead[k])*got.Quantum
	}
	if leaf != len(got.Base) || len(got.InnerAt) == 0 {
		t.Errorf("%d costs are of %d leaves, and of %d other frames", len(got.Base), leaf, len(got.InnerAt))
	}
	if d := cmp.Diff(e.Frames.Level, decoded.Level); d != "" {
		t.Fatalf("levels (-want +got):\n%s", d)
	}
	end := ends(&decoded)
	gotBase, gotHead := totals(&decoded, end)
	wantBase, wantHead := totals(&e.Frames, end)
	for i := range gotBase {
		if math.Abs(gotBase[i]-wantBase[i]) > 1.0001*got.Quantum || math.Abs(gotHead[i]-wantHead[i]) > 1.0001*got.Quantum {
			t.Fatalf("frame %d: %v and %v, want %v and %v; the quantum is %v", i, gotBase[i], gotHead[i], wantBase[i], wantHead[i], got.Quantum)
		}
	}
	one := 1_003_009.0 / 3
	switch {
	case alike && math.Abs(got.Quantum/one-1) > 1e-9:
		t.Errorf("the quantum is %v, a sample %v", got.Quantum, one)
	case !alike && got.Quantum > one/50:
		t.Errorf("the quantum is %v, a sample about %v", got.Quantum, one)
	}
}

// vary makes costs of an event that are multiples of nothing, those of its functions, too.
func vary(e *Event) {
	f := &e.Frames
	for i := range f.Level {
		f.Base[i] *= 1 + math.Sin(float64(i))/3
		f.Head[i] *= 1 + math.Cos(float64(i))/3
	}
	base, head := totals(f, ends(f))
	until := make([]int32, len(e.Functions))
	for i := range e.Functions {
		x := &e.Functions[i]
		x.Self.Base, x.Self.Head, x.Total.Base, x.Total.Head = 0, 0, 0, 0
	}
	for i, end := range ends(f) {
		fn := f.Function[i]
		if fn < 0 {
			continue
		}
		x := &e.Functions[fn]
		x.Self.Base += f.Base[i]
		x.Self.Head += f.Head[i]
		if int32(i) >= until[fn] {
			until[fn] = end
			x.Total.Base += base[i]
			x.Total.Head += head[i]
		}
	}
}

// TestCostsOfFunctions decodes costs of functions as the script does. They look as they are, whether their frames
// say it or, where samples differ or frames were left out, a column.
func TestCostsOfFunctions(t *testing.T) {
	for _, tt := range []struct {
		name         string
		varied       bool
		limit        int
		fewest, most float64 // part of the functions whose cost is stated
	}{
		{"samples of one period", false, MaxFrames, 0, 0},
		{"samples of all periods", true, MaxFrames, 0.1, 0.9},
		{"pruned", false, 1000, 0.1, 0.99},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := sample(t, comparetest.Options{Frames: 3000, Depth: 30, Runs: 3, Change: true})
			e := &d.Events[0]
			if tt.varied {
				vary(e)
			}
			e.Frames = (&pruner{all: &e.Frames}).pruned(tt.limit)
			_, index := byFrequency(e)
			c := &columns{}
			q := quantize(e)
			costs(c, e, q, index)
			var got eventBlock
			if err := json.Unmarshal(append(c.buf, '}'), &got); err != nil {
				t.Fatal(err)
			}
			self, total := q.ofFunctions(&e.Frames, len(index))
			order := make([]int, len(index))
			for i, at := range index {
				order[at] = i
			}
			stated := 0
			for _, of := range []struct {
				known      [][2]float64
				at         []int
				base, head []*float64
				near       [3]packed
				change     func(f *diff.Function) *diff.Change
			}{
				{self, got.SelfAt, got.SelfBase, got.SelfHead, [3]packed{got.SelfNear, got.SelfNearBase, got.SelfNearHead}, func(f *diff.Function) *diff.Change { return &f.Self }},
				{total, got.TotalAt, got.TotalBase, got.TotalHead, [3]packed{got.TotalNear, got.TotalNearBase, got.TotalNearHead}, func(f *diff.Function) *diff.Change { return &f.Total }},
			} {
				stated += len(of.at) + len(of.near[0])
				at := 0
				for i, step := range of.near[0] {
					at += int(step)
					known := &of.known[order[at]]
					known[0] += float64(of.near[1][i]) * (q.quantum / 8)
					known[1] += float64(of.near[2][i]) * (q.quantum / 8)
				}
				at = 0
				for i, step := range of.at {
					at += step
					of.known[order[at]] = [2]float64{*of.base[i], *of.head[i]}
				}
				for i := range e.Functions {
					if x := of.change(&e.Functions[i]); !e.alike(x, of.known[i][0], of.known[i][1]) {
						t.Errorf("%s costs %v and %v, decoded %v", e.Functions[i].Name, x.Base, x.Head, of.known[i])
					}
				}
			}
			if part := float64(stated) / float64(2*len(index)); part < tt.fewest || part > tt.most {
				t.Errorf("of %d functions %d costs are stated", len(index), stated)
			}
		})
	}
}

// TestFrameColumns checks that functions and threads of frames are those that were encoded, by
// decoding them as the script does.
func TestFrameColumns(t *testing.T) {
	c, err := comparetest.Compare(comparetest.Options{Frames: 3000, Depth: 30, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	all := FromComparison(document(c), Options{}).Events[0].Frames
	all.Threads, all.Thread = []string{"main", "worker"}, make([]int32, len(all.Level))
	for i := range all.Thread {
		all.Thread[i] = int32(i*i/700%3) - 1
	}
	index := make([]int, len(all.Level))
	for i := range index {
		index[i] = i
	}
	for _, limit := range []int{3000, 200} {
		prune := pruner{all: &all}
		want := prune.pruned(limit)
		var got frameBlock
		e := &Event{Event: new(diff.Event), Frames: want}
		if err := json.Unmarshal(frameColumns(e, quantize(e), index, []int{7, 8}), &got); err != nil {
			t.Fatal(err)
		}
		called := make(map[int32][]int32)
		var fn, thread, path, threads []int32
		at := make(map[int]int32)
		sum := 0
		for i, step := range got.ThreadAt {
			sum += step
			at[sum] = int32(got.Thread[i])
		}
		for i, letter := range []byte(got.Known) {
			k := strings.IndexByte(calleeLetters, letter)
			level, caller, own := want.Level[i], int32(math.MinInt32), int32(-1)
			if level > 0 {
				caller, own = path[level-1], threads[level-1]
			}
			if k == 0 {
				called[caller] = append(called[caller], int32(got.Fn[0]))
				got.Fn, k = got.Fn[1:], len(called[caller])
			}
			if other, ok := at[i]; ok {
				own = other
			}
			fn, thread = append(fn, called[caller][k-1]), append(thread, own)
			path, threads = append(path[:level], fn[i]), append(threads[:level], own)
		}
		if d := cmp.Diff(want.Function, fn); d != "" {
			t.Errorf("functions (-want +got):\n%s", d)
		}
		if d := cmp.Diff(want.Thread, thread); d != "" {
			t.Errorf("threads (-want +got):\n%s", d)
		}
		if len(got.Fn) > 0 || !slices.Equal(got.Threads, []int{7, 8}) {
			t.Errorf("%d functions are left, threads %v", len(got.Fn), got.Threads)
		}
	}
}

// TestNull checks that runs of the same program have no movers and no decided frames.
func TestNull(t *testing.T) {
	c, err := comparetest.Compare(comparetest.Options{Frames: 4000, Depth: 40, Runs: 8})
	if err != nil {
		t.Fatal(err)
	}
	d := FromComparison(document(c), Options{})
	e := &d.Events[0]
	if _, grew, shrank := e.movers(); len(grew)+len(shrank) > 0 {
		t.Errorf("%d functions grew, %d shrank", len(grew), len(shrank))
	}
	for i, f := range e.Frames.Flags {
		if f&(diff.Grew|diff.Shrank) != 0 {
			t.Errorf("frame %d is decided", i)
		}
	}
}

func uncompress(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if z.ModTime.Unix() != 0 {
		t.Errorf("the header has the time %v", z.ModTime)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
