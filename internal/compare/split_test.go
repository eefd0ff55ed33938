package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/verdict"
)

// divisions are the functions with parts, as "name: part part verdict".
func divisions(c *Comparison) (list []string) {
	for i := range c.Events[0].Functions {
		f := &c.Events[0].Functions[i]
		if len(f.Parts) == 0 {
			continue
		}
		var parts []string
		for _, p := range f.Parts {
			parts = append(parts, p.Name)
		}
		slices.Sort(parts)
		list = append(list, fmt.Sprintf("%s %s: %s %s", f.Match.Kind, f.BaseName, strings.Join(parts, " "), f.Self.Verdict))
	}
	return list
}

// with adds stacks to some that both sides have.
func with(stacks map[string]int, more map[string]int) map[string]int {
	all := maps.Clone(stacks)
	maps.Copy(all, more)
	return all
}

func TestSplits(t *testing.T) {
	// A cursor of a tree, moved by its key or by its number.
	const exec, insert = "a!main;a!exec", "a!main;a!exec;a!treeInsert"
	rest := map[string]int{exec: 1000, insert: 200, "a!main;a!print": 700, "a!main;a!print;a!treePrev": 300, exec + ";a!treeNext": 400, "a!main;a!print;a!readNumber": 100, "a!main;a!print;a!compareText": 100}
	whole := map[string]int{
		exec + ";a!treeMoveUnpacked": 400, insert + ";a!treeMoveUnpacked": 200,
		exec + ";a!treeMoveUnpacked;a!compareText": 200, exec + ";a!treeMoveUnpacked;a!readNumber": 150,
	}
	parts := func(share float64) map[string]int {
		n := func(v float64) int { return int(math.Round(v * share)) }
		return map[string]int{
			exec + ";a!treeIndexMove": n(200), insert + ";a!treeIndexMove": n(50), exec + ";a!treeIndexMove;a!compareText": 200,
			exec + ";a!treeTableMove": n(200), insert + ";a!treeTableMove": n(150), exec + ";a!treeTableMove;a!readNumber": 150,
		}
	}
	leaf := func(names ...string) map[string]int {
		m := make(map[string]int)
		for _, n := range names {
			m[exec+";a!"+n] = 600 / len(names)
		}
		return m
	}
	for _, test := range []struct {
		name       string
		base, head map[string]int
		want       []string
	}{
		{"one becomes two, of the same cost", whole, parts(1), []string{"split treeMoveUnpacked: treeIndexMove treeTableMove unchanged"}},
		{"one becomes two, which cost more", whole, parts(1.2), []string{"split treeMoveUnpacked: treeIndexMove treeTableMove regressed"}},
		{"two become one", parts(1), whole, []string{"merged treeTableMove: treeIndexMove treeTableMove unchanged"}},
		{"one becomes three, which call nothing", leaf("sumAll"), leaf("sumAllBytes", "sumAllWords", "sumAllRest"), []string{"split sumAll: sumAllBytes sumAllRest sumAllWords unchanged"}},
		{"the same functions", parts(1), parts(1), nil},
		// Without frame pointers callers are not known: a name that is gone, the names of the parts
		// and the cost have to do.
		{"no callers are known", map[string]int{"a!treeMoveUnpacked": 600}, map[string]int{"a!treeIndexMove": 310, "a!treeTableMove": 290}, []string{"split treeMoveUnpacked: treeIndexMove treeTableMove unchanged"}},
		{"no callers are known, and the cost is another", map[string]int{"a!treeMoveUnpacked": 600}, map[string]int{"a!treeIndexMove": 450, "a!treeTableMove": 430}, nil},
		{"no callers are known, and the name is not gone", map[string]int{"a!treeMove": 600}, map[string]int{"a!treeMove": 310, "a!treeMoveCheck": 290}, nil},
		{"no callers are known, and the new one is called otherwise", map[string]int{"a!treeMove_v1": 600}, map[string]int{"a!treeMove_v2": 310, "a!checkSum": 290}, nil},
		// What is new beside a function that only got faster is no part of it.
		{"one gets faster, another is new", leaf("sumAll"), with(map[string]int{exec + ";a!sumAll": 300}, map[string]int{exec + ";a!check": 300}), nil},
		{"one gets faster, one with its name is new", leaf("sumAll"), with(map[string]int{exec + ";a!sumAll": 300}, map[string]int{exec + ";a!sumAllCheck": 300}), nil},
		{"one is renamed and faster, another is new", leaf("sum_v1"), with(map[string]int{exec + ";a!sum_v2": 300}, map[string]int{exec + ";a!check": 300}), nil},
		{"one is renamed and faster, one with its first word is new", leaf("sumAllBytes"), with(map[string]int{exec + ";a!sumAllBytesFast": 300}, map[string]int{exec + ";a!sumCheck": 300}), nil},
		{"two are new with names of one that is gone, and cost twice as much", leaf("sumAll"), map[string]int{exec + ";a!sumAllBytes": 700, exec + ";a!sumAllWords": 700}, nil},
		{
			"the parts are called by others", whole,
			map[string]int{"a!main;a!print;a!treeIndexMove": 600, "a!main;a!print;a!treeTableMove": 350},
			nil,
		},
	} {
		for _, moved := range []bool{false, true} {
			c := mustCompare(t, noisy(t, 41, 8, with(rest, test.base)), noisy(t, 42, 8, with(rest, test.head)), Options{Normalize: None})
			if moved {
				// Nothing depends on which side of the recordings has more samples.
				c = mustCompare(t, noisy(t, 41, 4, with(rest, test.base)), noisy(t, 42, 16, with(rest, test.head)), Options{Normalize: None})
			}
			got := divisions(c)
			slices.Sort(got)
			if len(test.want) > 0 && moved {
				// With other numbers of runs the verdict may be another.
				got, test.want = kindsOf(got), kindsOf(test.want)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
		}
	}
}

func kindsOf(list []string) (without []string) {
	for _, s := range list {
		without = append(without, s[:strings.LastIndexByte(s, ' ')])
	}
	return without
}

// A split is one function: found by any of its names, with one cost, and its parts have what
// they cost but no verdict.
func TestSplitIsOne(t *testing.T) {
	base := map[string]int{"a!main": 1000, "a!main;a!treeMoveUnpacked": 600, "a!main;a!treeMoveUnpacked;a!compare": 300, "a!main;a!print;a!compare": 200}
	head := map[string]int{
		"a!main": 1000, "a!main;a!treeIndexMove": 300, "a!main;a!treeTableMove": 300, "a!main;a!treeIndexMove;a!compare": 160, "a!main;a!treeTableMove;a!compare": 140,
		"a!main;a!print;a!compare": 200,
	}
	c := mustCompare(t, noisy(t, 51, 8, base), noisy(t, 52, 8, head), Options{Normalize: None})
	for _, name := range []string{"treeMoveUnpacked", "treeIndexMove", "treeTableMove"} {
		focused := mustCompare(t, noisy(t, 51, 8, base), noisy(t, 52, 8, head), Options{Normalize: None, Focus: []*regexp.Regexp{regexp.MustCompile("^" + name + "$")}})
		if !slices.ContainsFunc(focused.Events[0].Functions, func(f Function) bool { return f.Focus && len(f.Parts) == 2 && f.Self.Declared }) {
			t.Errorf("--focus %s finds no split", name)
		}
	}
	if a, b := c.Row(true, "treeIndexMove", "a"), c.Row(false, "treeMoveUnpacked", "a"); a != b || a < 0 {
		t.Errorf("the part is in row %d, the whole in %d", a, b)
	}
	for i := range c.Events[0].Functions {
		f := &c.Events[0].Functions[i]
		if len(f.Parts) == 0 {
			if f.Self.Verdict == verdict.New || f.Self.Verdict == verdict.Removed {
				t.Errorf("%s is %s", f.Name, f.Self.Verdict)
			}
			continue
		}
		var self, total float64
		var samples int64
		for _, p := range f.Parts {
			self, total, samples = self+p.Self, total+p.Total, samples+p.SelfSamples
		}
		if math.Abs(self-f.Self.Head) > 1e-6*self || math.Abs(total-f.Total.Head) > 1e-6*total || samples != f.Self.HeadSamples {
			t.Errorf("parts cost %g, %g in %d samples, together %g, %g in %d", self, total, samples, f.Self.Head, f.Total.Head, f.Self.HeadSamples)
		}
		if !slices.IsSortedFunc(f.Parts, func(a, b Part) int { return cmp.Compare(b.Total, a.Total) }) {
			t.Errorf("the parts are not sorted: %+v", f.Parts)
		}
	}
}
