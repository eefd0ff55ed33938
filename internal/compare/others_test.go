package compare

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// TestOthers compares programs of more functions than are compared one by one: those that are heavy on a side, or named,
// are as they are without a bound, and all others are one.
func TestOthers(t *testing.T) {
	sides := func() (base, head []*run.Run) {
		for k, list := range []*[]*run.Run{&base, &head} {
			var b strings.Builder
			for i := range 300 {
				samples := 1 + i%3
				switch {
				case i == 7 && k == 0, i == 8 && k == 1, i == 9: // heavy on one side, or on both
					samples = 500
				}
				name := fmt.Sprintf("function%d", i)
				if i == 9 { // another clone of the function
					name = fmt.Sprintf("function%d.isra.%d", i, k)
				}
				fmt.Fprintf(&b, "e main app!main;app!layer%d;app!%s %d\n", i%2, name, samples)
			}
			*list = []*run.Run{runtest.Build(t, "run", b.String())}
		}
		return base, head
	}
	base, head := sides()
	all := mustCompare(t, base, head, Options{Normalize: None, Focus: []*regexp.Regexp{regexp.MustCompile("^function42$")}})
	base, head = sides()
	c := mustCompare(t, base, head, Options{Normalize: None, Focus: []*regexp.Regexp{regexp.MustCompile("^function42$")}, Most: 14})
	e, want := &c.Events[0], &all.Events[0]
	if len(want.Functions) != 303 || len(e.Functions) != 9 {
		t.Fatalf("%d functions of %d are compared, want 9 of 303", len(e.Functions), len(want.Functions))
	}
	var self [2]float64
	for i := range e.Functions {
		f := &e.Functions[i]
		self[0] += f.Self.Base
		self[1] += f.Self.Head
	}
	if math.Abs(self[0]-e.Total.Base) > 1e-6 || math.Abs(self[1]-e.Total.Head) > 1e-6 {
		t.Errorf("functions cost %v together, all of it is %v and %v", self, e.Total.Base, e.Total.Head)
	}
	for _, name := range []string{"main", "layer0", "layer1", "function7", "function8", "function9.isra.1", "function42"} {
		got, want := function(t, e, name), function(t, want, name)
		if got.Self.Base != want.Self.Base || got.Self.Head != want.Self.Head || got.Total.Base != want.Total.Base || got.Total.Head != want.Total.Head || got.Match != want.Match {
			t.Errorf("%s costs %v → %v, with callees %v → %v, %+v; want %v → %v, %v → %v, %+v", name, got.Self.Base, got.Self.Head, got.Total.Base, got.Total.Head, got.Match,
				want.Self.Base, want.Self.Head, want.Total.Base, want.Total.Head, want.Match)
		}
	}
	others := function(t, e, OtherFunctions)
	if others.Self.Base != others.Total.Base || others.Self.Base == 0 || others.Match.Kind != "exact" || others.Self.Tested {
		t.Errorf("the others cost %v, with callees %v, and are %s; tested: %v", others.Self.Base, others.Total.Base, others.Match.Kind, others.Self.Tested)
	}
	for _, name := range []string{"base", "head"} {
		start := name + " has 303 functions: 295 of those that cost least on both sides, together "
		found := false
		for _, w := range c.Warnings {
			found = found || strings.HasPrefix(w, start) && strings.HasSuffix(w, "% of e, are compared as one, [other functions]")
		}
		if !found {
			t.Errorf("warnings %q, want %q", c.Warnings, start)
		}
	}
	if c.Row(false, "function42", "app") < 0 || c.Row(false, "function43", "app") != -1 {
		t.Error("a function that has no row has one, or the other way round")
	}
}
