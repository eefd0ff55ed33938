package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTreeThreads checks which thread a node is of, against sums by thread.
func TestTreeThreads(t *testing.T) {
	const base = `
cpu-cycles pool-1 a!main;a!work;a!hash 30
cpu-cycles pool-2 a!main;a!work;a!hash 30
cpu-cycles io a!main;a!work;a!read 10
cpu-cycles io a!main;a!wait 9
cpu-cycles gc a!main;a!wait 9
`
	const head = `
cpu-cycles io a!main;a!work;a!read 30
cpu-cycles gc a!sweep 200
`
	c := mustCompare(t, runs(t, base), runs(t, head), Options{Normalize: None})
	tree := c.Tree(0)
	names, of := tree.Threads()
	got := make(map[string]string)
	var walk func(n TreeNode, path string)
	walk = func(n TreeNode, path string) {
		if fn := tree.Function[n]; fn >= 0 {
			path += "/" + c.Events[0].Functions[fn].Name
		}
		got[path] = "several"
		if of[n] >= 0 {
			got[path] = names[of[n]]
		}
		for _, child := range tree.Children(n) {
			walk(child, path)
		}
	}
	walk(TreeRoot, "")
	want := map[string]string{
		"": "gc", "/main": "pool-%d", "/main/work": "pool-%d", "/main/work/hash": "pool-%d", "/main/work/read": "io", "/main/wait": "several", "/sweep": "gc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c = mustCompare(t, runs(t, base[:strings.Index(base, "cpu-cycles io")]), runs(t, "cpu-cycles pool-3 a!main 5\n"), Options{Normalize: None})
	if names, of := c.Tree(0).Threads(); len(names) != 1 || of != nil {
		t.Errorf("threads %q, %v", names, of)
	}
}
