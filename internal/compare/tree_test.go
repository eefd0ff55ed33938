package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
)

const treeBase = `
cpu-cycles main a!main;a!old;a!hash_v1 30
cpu-cycles main a!main;a!sort;a!less 50
cpu-cycles main a!main;a!sort 20
cpu-cycles main a!main;a!sort;a!sort;a!less 10
`

const treeHead = `
cpu-cycles main a!main;a!sort;a!less 40
cpu-cycles main a!main;a!sort;a!fresh 5
cpu-cycles main a!main 7
`

// render prints a tree: base, head, self of both sides.
func render(e *Event, t *Tree, n *TreeNode, depth int, b *strings.Builder) {
	name := "all"
	if n.Function >= 0 {
		name = e.Functions[n.Function].Name
	}
	self := t.Self(n)
	fmt.Fprintf(b, "%s%s %v %v (%v %v)\n", strings.Repeat(" ", depth), name, n.Base, n.Head, self.Base, self.Head)
	for _, c := range n.Children {
		render(e, t, c, depth+1, b)
	}
}

func TestTree(t *testing.T) {
	c := mustCompare(t, runs(t, treeBase), runs(t, treeHead), Options{Normalize: None})
	e := &c.Events[0]
	for _, test := range []struct {
		tree *Tree
		want string
	}{
		{c.Tree(0), `all 110 52 (0 0)
 main 110 52 (0 7)
  sort 80 45 (20 0)
   less 50 40 (50 40)
   sort 10 0 (0 0)
    less 10 0 (10 0)
   fresh 0 5 (0 5)
  old 30 0 (0 0)
   hash_v1 30 0 (30 0)
`},
		{c.CallerTree(0), `all 110 52 (0 0)
 hash_v1 30 0 (30 0)
  old 30 0 (0 0)
   main 30 0 (0 0)
 less 60 40 (60 40)
  sort 60 40 (0 0)
   main 50 40 (0 0)
   sort 10 0 (0 0)
    main 10 0 (0 0)
 sort 20 0 (20 0)
  main 20 0 (0 0)
 main 0 7 (0 7)
 fresh 0 5 (0 5)
  sort 0 5 (0 0)
   main 0 5 (0 0)
`},
	} {
		var b strings.Builder
		render(e, test.tree, test.tree.Root, 0, &b)
		if diff := cmp.Diff(test.want, b.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestTreeSums checks on both trees that what a node costs is what it costs itself and
// what its children do, for every run.
func TestTreeSums(t *testing.T) {
	c := mustCompare(t, runs(t, treeBase, treeBase+"cpu-cycles main a!main;b!f 3"), runs(t, treeHead), Options{Normalize: None})
	down, up := c.Tree(0), c.CallerTree(0)
	var check func(n *TreeNode)
	check = func(n *TreeNode) {
		sum := newCost(2, 1)
		sum.add(&n.self)
		for _, child := range n.Children {
			sum.add(&child.total)
			check(child)
		}
		if diff := cmp.Diff(sum, n.total, cmp.AllowUnexported(cost{})); diff != "" {
			t.Errorf("node of function %d: %s", n.Function, diff)
		}
	}
	check(down.Root)
	if diff := cmp.Diff(down.Root.total, up.Root.total, cmp.AllowUnexported(cost{})); diff != "" {
		t.Error(diff)
	}
	if down.Root.total.base[1].Weight != 113 {
		t.Errorf("root %+v", down.Root.total)
	}
}

func TestNeighbors(t *testing.T) {
	c := mustCompare(t, runs(t, treeBase), runs(t, treeHead), Options{Normalize: None})
	e := &c.Events[0]
	index := func(name string) int {
		for i := range e.Functions {
			if e.Functions[i].Name == name {
				return i
			}
		}
		t.Fatalf("no function %s", name)
		return 0
	}
	list := func(neighbors []Neighbor) string {
		var b strings.Builder
		for _, n := range neighbors {
			name := "outermost"
			if n.Function >= 0 {
				name = e.Functions[n.Function].Name
			}
			fmt.Fprintf(&b, "%s %v→%v; ", name, n.Calls.Base, n.Calls.Head)
		}
		return b.String()
	}
	for _, test := range []struct{ name, callers, callees string }{
		// sort calls itself: what is below the inner call counts for both.
		{"sort", "main 80→45; ", "less 60→40; sort 10→0; fresh 0→5; "},
		{"main", "outermost 110→52; ", "sort 80→45; old 30→0; "},
		{"less", "sort 60→40; ", ""},
	} {
		callers, callees := c.Neighbors(0, index(test.name))
		if list(callers) != test.callers || list(callees) != test.callees {
			t.Errorf("%s: callers %q, callees %q", test.name, list(callers), list(callees))
		}
	}
}

func TestMetrics(t *testing.T) {
	c := mustCompare(t, runs(t, `
cpu-cycles:u main a!main;a!f 600
instructions:u main a!main;a!f 900
branch-misses:u main a!main;a!f 9
cpu-cycles:u main a!main 400
instructions:u main a!main 100
`), runs(t, `
cpu-cycles:u main a!main;a!f 300
instructions:u main a!main;a!f 800
branch-misses:u main a!main;a!f 2
cpu-cycles:u main a!main 400
instructions:u main a!main 100
`), Options{Normalize: None})
	m := c.Metrics()
	if len(m) != 3 || m[0].Name != "" || m[1].Name != "f" || m[2].Name != "main" {
		t.Fatalf("%+v", m)
	}
	f := m[1]
	if f.IPC != (Rate{1.5, 800.0 / 300}) || f.MPKI != (Rate{10, 2.5}) {
		t.Errorf("IPC %v, MPKI %v", f.IPC, f.MPKI)
	}
	// 100 instructions fewer at 2/3 cycles each, the rest by fewer cycles for each.
	if math.Abs(f.FromInstructions+100*600.0/900) > 1e-9 || math.Abs(f.FromInstructions+f.FromIPC+300) > 1e-9 {
		t.Errorf("from instructions %v, from IPC %v", f.FromInstructions, f.FromIPC)
	}
	if main := m[2]; main.MPKI != (Rate{}) || main.IPC != (Rate{0.25, 0.25}) || main.FromIPC != 0 {
		t.Errorf("main %+v", main)
	}
	if whole := m[0]; whole.IPC != (Rate{1, 900.0 / 700}) {
		t.Errorf("everything %v", whole.IPC)
	}
	if c := mustCompare(t, runs(t, "cpu-cycles main a!f 1"), runs(t, "cpu-cycles main a!f 2"), Options{Normalize: None}); c.Metrics() != nil {
		t.Error("metrics without instructions")
	}
}

func TestGroups(t *testing.T) {
	c := mustCompare(t, runs(t, "cpu-cycles Binder:1_2 dir!main;lib!f 30\ncpu-cycles Binder:1_3 dir!main 5"),
		runs(t, "cpu-cycles Binder:7_1 dir!main;lib!f 10\ncpu-cycles main dir!main 5"), Options{Normalize: None, GroupBy: []run.GroupBy{run.ByThread, run.ByDSO, run.ByCategory}})
	var got strings.Builder
	for _, g := range c.Events[0].Groups {
		got.WriteString(string(g.By) + ":")
		sum := 0.0
		for _, r := range g.Rows {
			if g.By != run.ByCategory {
				got.WriteString(fmt.Sprintf(" %s %v→%v", r.Name, r.Self.Base, r.Self.Head))
			}
			sum += r.Self.Base
		}
		got.WriteString(fmt.Sprintf(" (%v)\n", sum))
	}
	want := `thread: Binder:%d_%d 35→10 main 0→5 (35)
dso: lib 30→10 dir 5→5 (35)
category: (35)
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}
