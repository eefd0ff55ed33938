package remark

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	runs := map[string]int{"base": 10, "head": 10}
	// of makes remarks of the runs from..to of a side.
	of := func(side string, from, to int, text func(i int) string) (list []Remark) {
		for i := from; i <= to; i++ {
			list = append(list, Remark{side, fmt.Sprintf("%s/%02d.data", side, i), text(i)})
		}
		return list
	}
	same := func(text string) func(int) string { return func(int) string { return text } }
	join := func(lists ...[]Remark) (all []Remark) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	for _, test := range []struct {
		name string
		list []Remark
		want []string
	}{
		{"none", nil, nil},
		{"one run", of("base", 3, 3, same("is incomplete")), []string{"base/03.data: is incomplete"}},
		{"all", join(of("base", 1, 10, same("no call chains")), of("head", 1, 10, same("no call chains"))), []string{"all 20 runs: no call chains"}},
		{"some of both", join(of("base", 1, 2, same("no call chains")), of("head", 4, 4, same("no call chains"))), []string{"3 of 20 runs: no call chains"}},
		{"one side", of("head", 1, 10, same("no call chains")), []string{"10 of 20 runs, all of head: no call chains"}},
		{
			"numbers", of("base", 1, 4, func(i int) string { return fmt.Sprintf("other programs took %.1f CPUs", 1+float64(i)/5) }),
			[]string{"4 of 20 runs, all of base: other programs took 1.2–1.8 CPUs"},
		},
		{
			"shares and brackets", join(of("base", 1, 3, func(i int) string { return fmt.Sprintf("%d.5%% of samples (%d), in all", 12-i, 1000*i) })),
			[]string{"3 of 20 runs, all of base: 9.5–11.5% of samples (1000–3000), in all"},
		},
		{
			"names of files", join(of("base", 1, 2, func(i int) string { return fmt.Sprintf("/tmp/perf-%d.map: no such file", i) }), of("head", 1, 3, func(i int) string { return fmt.Sprintf("/tmp/perf-%d.map: no such file", 7+i) })),
			[]string{"5 of 20 runs: /tmp/perf-1.map, /tmp/perf-2.map, /tmp/perf-8.map and 2 more: no such file"},
		},
		{
			"two of one run",
			[]Remark{{"base", "a", "libz.so.1: no symbols"}, {"base", "a", "libm.so.6: no symbols"}},
			[]string{"a: libz.so.1, libm.so.6: no symbols"},
		},
		{
			"what differs in words stays apart", join(of("base", 1, 2, same("cycles was counted 50% of the time")), of("base", 1, 2, same("branches was counted 50% of the time"))),
			[]string{"2 of 20 runs, all of base: cycles was counted 50% of the time", "2 of 20 runs, all of base: branches was counted 50% of the time"},
		},
	} {
		if diff := cmp.Diff(test.want, Lines(test.list, runs)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
	list := of("base", 1, 3, func(i int) string { return fmt.Sprintf("%d CPUs", i) })
	if Repeats(list[:1]) || !Repeats(list[:2]) || Repeats(append(list[:3:3], Remark{"base", "a", "odd"})) {
		t.Error("what is said again is not what was said before")
	}
	if got := Repeated(append(list, Remark{"base", "a", "odd"}), runs); len(got) != 1 || got[0] != "3 of 20 runs, all of base: 1–3 CPUs" {
		t.Errorf("repeated: %q", got)
	}
	if got := Lines([]Remark{{"", "a", "x"}, {"", "b", "x"}}, map[string]int{"": 3}); got[0] != "2 of 3 runs: x" {
		t.Errorf("one side alone: %q", got)
	}
	if got := Lines([]Remark{{"base", "a", "x"}, {"head", "b", "x"}}, map[string]int{"base": 1, "head": 1}); got[0] != "both runs: x" {
		t.Errorf("one run a side: %q", got)
	}
}
