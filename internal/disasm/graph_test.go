package disasm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// graphOf returns a function with these edges between blocks of one instruction,
// the first of which is the entry.
func graphOf(succs [][]int) *Function {
	f := &Function{Blocks: make([]Block, len(succs)), Insts: make([]Inst, len(succs))}
	for b := range f.Blocks {
		f.Insts[b] = Inst{Addr: uint64(b), Len: 1}
		to := slices.Clone(succs[b])
		slices.Sort(to)
		f.Blocks[b] = Block{First: b, End: b + 1, Succs: slices.Compact(to), Dominator: -1}
	}
	for b := range f.Blocks {
		for _, s := range f.Blocks[b].Succs {
			f.Blocks[s].Preds = append(f.Blocks[s].Preds, b)
		}
	}
	return f
}

func randomGraph(r *rand.Rand) [][]int {
	succs := make([][]int, 1+r.IntN(24))
	degree := 1 + r.IntN(3)
	for b := range succs {
		if b+1 < len(succs) && r.IntN(3) > 0 {
			succs[b] = append(succs[b], b+1)
		}
		for range r.IntN(degree + 1) {
			to := r.IntN(len(succs))
			if r.IntN(2) == 0 { // mostly near, as in code
				to = max(0, min(len(succs)-1, b+r.IntN(7)-3))
			}
			succs[b] = append(succs[b], to)
		}
	}
	return succs
}

// reachable returns what can be reached from the entry without going through block
// without.
func reachable(f *Function, without int) []bool {
	seen := make([]bool, len(f.Blocks))
	var walk func(b int)
	walk = func(b int) {
		if b == without || seen[b] {
			return
		}
		seen[b] = true
		for _, s := range f.Blocks[b].Succs {
			walk(s)
		}
	}
	walk(0)
	return seen
}

// dominates[d][b] by the definition: without d there is no way to b.
func slowDominators(f *Function) (dominates [][]bool) {
	all := reachable(f, -1)
	for d := range f.Blocks {
		without := reachable(f, d)
		row := make([]bool, len(all))
		for b := range all {
			row[b] = all[d] && all[b] && !without[b]
		}
		dominates = append(dominates, row)
	}
	return dominates
}

// slowLoops returns the blocks of the natural loops by header.
func slowLoops(f *Function, dominates [][]bool) map[int][]int {
	loops := make(map[int]map[int]bool)
	for u := range f.Blocks {
		for _, h := range f.Blocks[u].Succs {
			if !dominates[h][u] {
				continue
			}
			if loops[h] == nil {
				loops[h] = map[int]bool{h: true}
			}
			var walk func(b int)
			walk = func(b int) {
				if loops[h][b] || !dominates[h][b] {
					return
				}
				loops[h][b] = true
				for _, p := range f.Blocks[b].Preds {
					walk(p)
				}
			}
			walk(u)
		}
	}
	sorted := make(map[int][]int)
	for h, blocks := range loops {
		for b := range f.Blocks {
			if blocks[b] {
				sorted[h] = append(sorted[h], b)
			}
		}
	}
	return sorted
}

func TestDominatorsAndLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var loops, irreducible, nested int
	for range 20000 {
		succs := randomGraph(r)
		f := graphOf(succs)
		f.findDominators(func(uint64) bool { return false })
		var ok bool
		if f.Loops, f.loopOf, ok = FindLoops(f.Blocks, 0); !ok {
			t.Fatalf("%v: no room", succs)
		}
		dominates := slowDominators(f)
		all := reachable(f, -1)
		for b, block := range f.Blocks {
			if block.Reachable != all[b] {
				t.Fatalf("%v: block %d reachable: %v, want %v", succs, b, block.Reachable, all[b])
			}
			if !all[b] {
				if d := block.Dominator; d >= 0 && all[d] {
					t.Fatalf("%v: block %d, which is not reached, has dominator %d", succs, b, d)
				}
				continue
			}
			want := -1
			for d := range f.Blocks {
				// The strict dominator that all others dominate.
				if d != b && dominates[d][b] && (want < 0 || dominates[want][d]) {
					want = d
				}
			}
			if block.Dominator != want {
				t.Fatalf("%v: dominator of %d is %d, want %d", succs, b, block.Dominator, want)
			}
		}
		want := slowLoops(f, dominates)
		for i, l := range f.Loops {
			checkLoop(t, f, i)
			if !all[l.Header] {
				continue
			}
			loops++
			if l.Depth > 1 {
				nested++
			}
			if l.Irreducible {
				irreducible++
				for _, b := range l.Blocks {
					if b != l.Header && !dominates[l.Header][b] {
						delete(want, l.Header) // is a part of this one
					}
				}
				if _, left := want[l.Header]; left {
					t.Fatalf("%v: loop of %d is reducible", succs, l.Header)
				}
				continue
			}
			if diff := cmp.Diff(want[l.Header], l.Blocks); diff != "" {
				t.Fatalf("%v: loop of %d (-want +got):\n%s", succs, l.Header, diff)
			}
			delete(want, l.Header)
		}
		if len(want) > 0 {
			t.Fatalf("%v: loops not found: %v", succs, want)
		}
	}
	if loops < 1000 || irreducible < 100 || nested < 100 {
		t.Errorf("%d loops, %d irreducible, %d nested: the graphs are too simple", loops, irreducible, nested)
	}
}

// checkLoop checks what holds for every loop.
func checkLoop(t testing.TB, f *Function, i int) {
	t.Helper()
	l := f.Loops[i]
	if !slices.IsSorted(l.Blocks) || !slices.Contains(l.Blocks, l.Header) {
		t.Fatalf("loop %d: blocks %v, header %d", i, l.Blocks, l.Header)
	}
	if len(l.BackEdges) == 0 {
		t.Fatalf("loop %d has no back edge", i)
	}
	for _, b := range l.BackEdges {
		if !slices.Contains(f.Blocks[b].Succs, l.Header) || !slices.Contains(l.Blocks, b) {
			t.Fatalf("loop %d: block %d is no back edge", i, b)
		}
	}
	depth := 1
	if l.Parent >= 0 {
		outer := f.Loops[l.Parent]
		depth = outer.Depth + 1
		if l.Parent >= i {
			t.Fatalf("loop %d comes before the one around it", i)
		}
		for _, b := range l.Blocks {
			if !slices.Contains(outer.Blocks, b) {
				t.Fatalf("loop %d: block %d is not in loop %d", i, b, l.Parent)
			}
		}
	}
	if l.Depth != depth {
		t.Fatalf("loop %d has depth %d, want %d", i, l.Depth, depth)
	}
	for _, b := range l.Blocks {
		in := f.LoopOf(b)
		for in > i {
			in = f.Loops[in].Parent
		}
		if in != i {
			t.Fatalf("block %d is in loop %d and in no loop within it, but LoopOf is %d", b, i, f.LoopOf(b))
		}
	}
}
