package compare

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// noisy builds runs of stacks that each have about that many samples.
func noisy(t testing.TB, seed uint64, n int, stacks map[string]int) (list []*run.Run) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		var b strings.Builder
		for _, stack := range slices.Sorted(maps.Keys(stacks)) {
			fmt.Fprintf(&b, "cpu-clock main %s%s\n", stack, strings.Repeat(" 1000", stacks[stack]+rng.IntN(11)-5))
		}
		list = append(list, runtest.Build(t, fmt.Sprint(i), b.String()))
	}
	return list
}

func shifts(c *Comparison) (list []string) {
	e := &c.Events[0]
	for _, s := range e.Shifts {
		var parts []string
		for _, p := range s.Parts {
			parts = append(parts, e.Functions[p].Name)
		}
		slices.Sort(parts)
		list = append(list, fmt.Sprintf("%s: %s %s", e.Functions[s.Caller].Name, strings.Join(parts, " "), s.Net.Verdict))
	}
	return list
}

func TestShifts(t *testing.T) {
	const rest = "a!main;a!other"
	for _, test := range []struct {
		name       string
		base, head map[string]int
		want       []string
	}{
		{
			"a helper is inlined",
			map[string]int{rest: 2000, "a!main;a!sort;a!less": 1000, "a!main;a!sort": 500},
			map[string]int{rest: 2000, "a!main;a!sort": 1500},
			[]string{"sort: less sort unchanged"},
		},
		{
			"a helper is inlined and gets faster",
			map[string]int{rest: 2000, "a!main;a!sort;a!less": 1000, "a!main;a!sort": 500},
			map[string]int{rest: 2000, "a!main;a!sort": 1250},
			[]string{"sort: less sort improved"},
		},
		{
			"a helper is inlined and gets much faster",
			map[string]int{rest: 2000, "a!main;a!sort;a!less": 1000, "a!main;a!sort": 500},
			map[string]int{rest: 2000, "a!main;a!sort": 1050},
			nil,
		},
		{
			"two are replaced by two others that cost half as much",
			map[string]int{rest: 2000, "a!main;a!scan": 900, "a!main;a!step": 700},
			map[string]int{rest: 2000, "a!main;a!token": 500, "a!main;a!walk": 400},
			nil,
		},
		{
			"one is replaced by another of the same cost",
			map[string]int{rest: 2000, "a!main;a!load;a!scan": 700, "a!main;a!load": 100},
			map[string]int{rest: 2000, "a!main;a!load;a!token": 700, "a!main;a!load": 100},
			nil,
		},
		{
			"one is gone here, one is new there",
			map[string]int{rest: 2000, "a!main;a!load;a!scan": 700, "a!main;a!load": 100, "a!main;a!save": 100},
			map[string]int{rest: 2000, "a!main;a!load": 100, "a!main;a!save;a!token": 700, "a!main;a!save": 100},
			nil,
		},
		{
			"the caller has no name",
			map[string]int{rest: 2000, "a![libc]": 500, "a![libc];a!local": 400},
			map[string]int{rest: 2000, "a![libc]": 500, "a![libc];a!text": 400},
			nil,
		},
		{
			"a slow path is outlined",
			map[string]int{rest: 2000, "a!main;a!parse": 1500},
			map[string]int{rest: 2000, "a!main;a!parse": 700, "a!main;a!parse;a!rare": 800},
			[]string{"parse: parse rare unchanged"},
		},
		{
			"a helper is inlined into two callers",
			map[string]int{rest: 2000, "a!main;a!run;a!f;a!help": 600, "a!main;a!run;a!g;a!help": 600, "a!main;a!run;a!f": 300, "a!main;a!run;a!g": 300},
			map[string]int{rest: 2000, "a!main;a!run;a!f": 900, "a!main;a!run;a!g": 900},
			[]string{"run: f g help unchanged"},
		},
		{
			"a function is gone",
			map[string]int{rest: 2000, "a!main;a!sort;a!less": 1000, "a!main;a!sort": 500},
			map[string]int{rest: 2000, "a!main;a!sort": 500},
			nil,
		},
		{
			"a function is new",
			map[string]int{rest: 2000, "a!main;a!sort": 500},
			map[string]int{rest: 2000, "a!main;a!sort;a!check": 800, "a!main;a!sort": 500},
			nil,
		},
		{
			"a helper is half inlined, and another function slower",
			map[string]int{rest: 2000, "a!main;a!sort;a!less": 1000, "a!main;a!sort": 500, "a!main;a!slow": 800},
			map[string]int{rest: 2000, "a!main;a!sort": 980, "a!main;a!slow": 1200},
			nil,
		},
		{
			"one is gone and an unrelated one slower",
			map[string]int{rest: 2000, "a!main;a!x;a!gone": 1000, "a!main;a!y;a!slow": 1000, "a!main;a!x": 100, "a!main;a!y": 100},
			map[string]int{rest: 2000, "a!main;a!x": 100, "a!main;a!y;a!slow": 1100, "a!main;a!y": 100},
			nil,
		},
	} {
		c := mustCompare(t, noisy(t, 31, 8, test.base), noisy(t, 32, 8, test.head), Options{Normalize: None})
		if got := shifts(c); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
		for i := range c.Events[0].Functions {
			f := &c.Events[0].Functions[i]
			if f.Shift >= len(c.Events[0].Shifts) || f.Shift >= 0 && len(test.want) == 0 {
				t.Errorf("%s: %s is part of shift %d", test.name, f.Name, f.Shift)
			}
		}
	}
}
