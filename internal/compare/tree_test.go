package compare

import (
	"fmt"
	"math"
	"slices"
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

// render prints a tree: base and head of each node.
func render(e *Event, t *Tree, n TreeNode, depth int, b *strings.Builder) {
	name := "all"
	if fn := t.Function[n]; fn >= 0 {
		name = e.Functions[fn].Name
	}
	fmt.Fprintf(b, "%s%s %v %v\n", strings.Repeat(" ", depth), name, t.Base[n], t.Head[n])
	for _, c := range t.Children(n) {
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
		{c.Tree(0), `all 110 52
 main 110 52
  sort 80 45
   less 50 40
   sort 10 0
    less 10 0
   fresh 0 5
  old 30 0
   hash_v1 30 0
`},
		{c.CallerTree(0), `all 110 52
 hash_v1 30 0
  old 30 0
   main 30 0
 less 60 40
  sort 60 40
   main 50 40
   sort 10 0
    main 10 0
 sort 20 0
  main 20 0
 main 0 7
 fresh 0 5
  sort 0 5
   main 0 5
`},
	} {
		var b strings.Builder
		render(e, test.tree, TreeRoot, 0, &b)
		if diff := cmp.Diff(test.want, b.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestTreeOracle compares both trees with sums over the paths of all samples, for every
// run, and what Costs adds up for all nodes with what it does for some.
func TestTreeOracle(t *testing.T) {
	base, head := generateSides(3, 60, 400)
	for _, r := range []*run.Run{base[1], head[2]} { // one with samples that have no stack
		r.Samples = append(r.Samples, run.Sample{Sum: run.Sum{Weight: 5e6, Count: 5, WeightSq: 5e12}})
		r.Events[0].Weight += 5e6
		r.Events[0].Samples += 5
	}
	c := mustCompare(t, base, head, Options{Normalize: Total})
	e := &c.Events[0]
	for _, up := range []bool{false, true} {
		want := make(map[string]*cost)
		for i, r := range slices.Concat(base, head) {
			for _, s := range r.Samples {
				path := []string{noStack}
				if s.Stack != 0 {
					path = path[:0]
					for _, l := range r.Stacks.Append(nil, s.Stack) {
						path = append(path, r.Functions[r.Locations[l].Lines[0].Function].Name)
					}
				}
				if !up {
					slices.Reverse(path)
				}
				for k := range len(path) + 1 {
					key := strings.Join(path[:k], ";")
					if want[key] == nil {
						fresh := newCost(len(base), len(head))
						want[key] = &fresh
					}
					sums := slices.Concat(want[key].base, want[key].head)
					sums[i].Add(&s.Sum)
					copy(want[key].base, sums)
					copy(want[key].head, sums[len(base):])
				}
			}
		}
		tree := c.Tree(0)
		if up {
			tree = c.CallerTree(0)
		}
		if tree.Len() != len(want) {
			t.Fatalf("%d nodes, want %d", tree.Len(), len(want))
		}
		all, some := make([]TreeNode, tree.Len()), []TreeNode{}
		for n := range all {
			all[n] = TreeNode(n)
			if n%3 == 1 {
				some = append(some, TreeNode(n))
			}
		}
		slices.Reverse(some)
		costs := tree.Costs(all)
		paths := make([]string, tree.Len())
		for n := range all {
			if n > 0 {
				paths[n] = strings.TrimPrefix(paths[tree.Parent(TreeNode(n))]+";"+e.Functions[tree.Function[n]].Name, ";")
				if !slices.Contains(tree.Children(tree.Parent(TreeNode(n))), TreeNode(n)) {
					t.Fatalf("node %d is no child of its parent", n)
				}
			}
			got := costs.cost(n)
			if diff := cmp.Diff(want[paths[n]], &got, cmp.AllowUnexported(cost{})); diff != "" {
				t.Fatalf("%q: %s", paths[n], diff)
			}
			ch := costs.Change(n)
			if ch.Base != tree.Base[n] && math.Abs(ch.Base/tree.Base[n]-1) > 1e-12 || ch.Head != tree.Head[n] && math.Abs(ch.Head/tree.Head[n]-1) > 1e-12 {
				t.Fatalf("%q: %v %v, and %v %v of runs", paths[n], tree.Base[n], tree.Head[n], ch.Base, ch.Head)
			}
			if tested := costs.Test(n); tested.P != ch.P {
				t.Fatalf("%q: p %v, with an interval %v", paths[n], tested.P, ch.P)
			}
		}
		for k, n := range some {
			if diff := cmp.Diff(costs.cost(int(n)), tree.Costs(some).cost(k), cmp.AllowUnexported(cost{})); diff != "" {
				t.Fatalf("%q among some: %s", paths[n], diff)
			}
		}
	}
}

// TestWithin checks that tests without intervals say the same as intervals do.
func TestWithin(t *testing.T) {
	base, head := generateSides(8, 200, 3000)
	c := mustCompare(t, base, head, Options{Normalize: None})
	tree := c.Tree(0)
	var all []TreeNode
	for n := range tree.Len() {
		all = append(all, TreeNode(n))
	}
	costs := tree.Costs(all)
	within, grew := 0, 0
	for k := range all {
		ch, tested := costs.Change(k), costs.Test(k)
		for _, margin := range []float64{0.02, 0.1, 0.3} {
			inside := ch.CI.Lo >= 1/(1+margin) && ch.CI.Hi <= 1+margin
			if ch.Within(margin) != inside || tested.Within(margin) != inside {
				t.Errorf("%v is within %v: %v, %v without the interval", ch.CI, margin, ch.Within(margin), tested.Within(margin))
			}
			if inside {
				within++
			}
		}
		if ch.P <= 0.05 {
			if tested.Grew() != (ch.Ratio > 1) {
				t.Errorf("ratio %v, p %v: grew %v", ch.Ratio, ch.P, tested.Grew())
			}
			grew++
		}
	}
	if within == 0 || grew == 0 {
		t.Errorf("%d changes are within a margin, %d are shown", within, grew)
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
