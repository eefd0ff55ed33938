package perfsession

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newTestSession() *Session { return &Session{} }

func spaceString(s *space) []string {
	var out []string
	for m := range s.root.all() {
		out = append(out, fmt.Sprintf("%x-%x@%x %s", m.Start, m.End, m.PgOff, m.DSO.Path))
	}
	return out
}

func TestSpaceInsert(t *testing.T) {
	dso := func(name string) *DSO { return &DSO{Path: name} }
	type in struct {
		start, end, off uint64
		dso             string
	}
	for _, test := range []struct {
		name string
		in   []in
		want []string
	}{
		{"apart", []in{{0x30, 0x40, 0, "b"}, {0x10, 0x20, 0, "a"}}, []string{"10-20@0 a", "30-40@0 b"}},
		{"touching", []in{{0x10, 0x20, 0, "a"}, {0x20, 0x30, 0x10, "a"}}, []string{"10-20@0 a", "20-30@10 a"}},
		{"same range", []in{{0x10, 0x20, 0, "a"}, {0x10, 0x20, 0, "b"}}, []string{"10-20@0 b"}},
		{"middle", []in{{0x10, 0x40, 0x100, "a"}, {0x20, 0x30, 0, "b"}}, []string{"10-20@100 a", "20-30@0 b", "30-40@120 a"}},
		{"start", []in{{0x10, 0x40, 0x100, "a"}, {0x8, 0x18, 0, "b"}}, []string{"8-18@0 b", "18-40@108 a"}},
		{"end", []in{{0x10, 0x40, 0x100, "a"}, {0x38, 0x48, 0, "b"}}, []string{"10-38@100 a", "38-48@0 b"}},
		{"over several", []in{{0x10, 0x20, 0, "a"}, {0x20, 0x30, 0, "b"}, {0x30, 0x40, 0, "c"}, {0x18, 0x38, 0, "d"}}, []string{"10-18@0 a", "18-38@0 d", "38-40@8 c"}},
		{"to the end of memory", []in{{0x10, 1<<64 - 1, 0, "a"}, {0x20, 0x30, 0, "b"}}, []string{"10-20@0 a", "20-30@0 b", "30-ffffffffffffffff@20 a"}},
	} {
		s := newTestSession()
		var sp space
		for _, m := range test.in {
			sp.insert(s.mapping(Mapping{Start: m.start, End: m.end, PgOff: m.off, DSO: dso(m.dso)}), s.mapping)
		}
		if diff := cmp.Diff(test.want, spaceString(&sp)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestSpaceOracle compares spaces, some of them forked, with plain arrays of what is
// mapped at each address.
func TestSpaceOracle(t *testing.T) {
	const size = 200
	rng := rand.New(rand.NewPCG(5, 6))
	type cell struct {
		dso string
		off uint64
	}
	s := newTestSession()
	spaces := []*space{{}}
	cells := [][size]cell{{}}
	for step := range 5000 {
		i := rng.IntN(len(spaces))
		if len(spaces) < 8 && rng.IntN(100) == 0 {
			forked := spaces[i].fork()
			spaces = append(spaces, &forked)
			cells = append(cells, cells[i])
			continue
		}
		if j := rng.IntN(len(spaces)); i != j && rng.IntN(100) == 0 {
			// As if process i, of which some mappings are known already, were forked by j.
			spaces[i].cover(spaces[j].root, s.mapping)
			for a, c := range cells[j] {
				if c != (cell{}) {
					cells[i][a] = c
				}
			}
		}
		start := uint64(rng.IntN(size - 1))
		end := start + 1 + uint64(rng.IntN(min(40, size-int(start))))
		end = min(end, size)
		off := uint64(rng.IntN(1000))
		name := fmt.Sprint(step)
		spaces[i].insert(s.mapping(Mapping{Start: start, End: end, PgOff: off, DSO: &DSO{Path: name}}), s.mapping)
		for a := start; a < end; a++ {
			cells[i][a] = cell{name, off + a - start}
		}
		for j, sp := range spaces {
			for range 20 {
				a := uint64(rng.IntN(size))
				var got cell
				if m := sp.find(a); m != nil {
					got = cell{m.DSO.Path, m.PgOff + a - m.Start}
				}
				if got != cells[j][a] {
					t.Fatalf("step %d, space %d: address %d is %v, want %v", step, j, a, got, cells[j][a])
				}
			}
		}
	}
}

// TestSpaceShares checks that what is inherited is shared: a process that inherits many mappings
// costs the same as one that inherits few but for the depth of the tree.
func TestSpaceShares(t *testing.T) {
	s := newTestSession()
	var parent space
	dso := &DSO{Path: "a"}
	for i := range uint64(4096) {
		parent.insert(s.mapping(Mapping{Start: i << 16, End: i<<16 + 4096, DSO: dso}), s.mapping)
	}
	known := make(map[*node]bool)
	var fresh func(n *node) int
	fresh = func(n *node) int {
		if n == nil || known[n] {
			return 0
		}
		known[n] = true
		return 1 + fresh(n.left) + fresh(n.right)
	}
	if n := fresh(parent.root); n != 4096 {
		t.Fatalf("%d nodes", n)
	}
	const children, most = 1000, 40 // nodes from the top to a leaf of 4096, on average 2 ln 4096 = 17
	sum := 0
	for i := range uint64(children) {
		child := parent.fork()
		child.insert(s.mapping(Mapping{Start: i<<18 + 8192, End: i<<18 + 12288, DSO: dso}), s.mapping)
		sum += fresh(child.root)
		// Inherited twice, as simpleperf may note it: nothing is new.
		again := child
		again.cover(parent.root, s.mapping)
		if n := fresh(again.root); n > 2*most {
			t.Errorf("child %d: %d new nodes after it inherited the same again", i, n)
		}
	}
	if sum > most*children {
		t.Errorf("%d children have %d nodes of their own", children, sum)
	}
	// A tree is not deep whatever the order in which mappings come.
	var depth func(n *node) int
	depth = func(n *node) int {
		if n == nil {
			return 0
		}
		return 1 + max(depth(n.left), depth(n.right))
	}
	if d := depth(parent.root); d > 80 {
		t.Errorf("4096 mappings are a tree of depth %d", d)
	}
}
