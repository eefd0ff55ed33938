package run_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

func TestUnnamed(t *testing.T) {
	r := runtest.Build(t, "r", `
		cycles main a!main;b!leaf 40
		cycles main a!main;b![b] 10
		cycles main a![a];b![b];b![b] 20
		cycles main a![a];c!leaf 25
		cycles main d![d];a!main 5
		other main e![e] 10
		other main a!main 90`)
	r.Mappings[1].Unnamed = run.Unnamed{Why: "stripped"} // of a
	all, files := r.Unnamed()
	want := []run.UnnamedShare{
		{File: "/lib/b", Self: 0.3, Total: 0.3},
		{File: "/lib/a", Total: 0.45, Unnamed: run.Unnamed{Why: "stripped"}},
		{File: "/lib/d", Total: 0.05},
	}
	if diff := cmp.Diff(want, files, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(run.UnnamedShare{Self: 0.3, Total: 0.6}, all, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
}

func TestUnnamedWarning(t *testing.T) {
	build := func(samples string, reasons ...run.Unnamed) *run.Run {
		r := runtest.Build(t, "r", samples)
		for i, u := range reasons {
			r.Mappings[i+1].Unnamed = u
		}
		return r
	}
	stripped := run.Unnamed{Why: "stripped", Install: "a-dbgsym"}
	other := run.Unnamed{Why: "stripped", Install: "b-dbgsym", Help: "ask"}
	gone := run.Unnamed{Why: "not here", Help: "--symfs DIR"}
	for _, test := range []struct {
		name  string
		sides [][]*run.Run
		want  string
	}{
		{"nothing", nil, ""},
		{"all has names", [][]*run.Run{{build("cycles main a!f 100")}}, ""},
		{"little", [][]*run.Run{{build("cycles main a!f 1000\ncycles main b![b] 9")}}, ""},
		{"one file", [][]*run.Run{{build("cycles main a![a] 10\ncycles main b!f 90", stripped)}}, "10% of the cost is in code without names: /lib/a 10% (stripped): install a-dbgsym"},
		{
			"packages",
			[][]*run.Run{{build("cycles main a![a] 30\ncycles main b![b] 20\ncycles main c![c] 10\ncycles main f!f 40", other, run.Unnamed{Why: "stripped", Install: "c-dbgsym", Help: "ask"}, gone)}},
			"60% of the cost is in code without names: /lib/a 30% (stripped), /lib/b 20% (likewise), /lib/c 10% (not here): install b-dbgsym and c-dbgsym, or ask; --symfs DIR",
		},
		{
			"one help is a part of another",
			[][]*run.Run{{build("cycles main a![a] 60\ncycles main b![b] 40", gone, run.Unnamed{Why: "not here", Help: "--symfs DIR, or ask"})}},
			"100% of the cost is in code without names: /lib/a 60% (not here), /lib/b 40% (likewise): --symfs DIR, or ask",
		},
		{"little else", [][]*run.Run{{build("cycles main a![a] 30\ncycles main b![b] 4\ncycles main f!f 966", stripped)}}, "3% of the cost is in code without names: /lib/a 3% (stripped): install a-dbgsym"},
		{"few callers", [][]*run.Run{{build("cycles main a![a];b!f 4\ncycles main b!f 96", stripped)}}, ""},
		{
			"several files",
			[][]*run.Run{{build("cycles main a![a] 10\ncycles main b![b] 20\ncycles main c![c] 5\ncycles main d![d] 5\ncycles main e![e] 1\ncycles main f!f 959", stripped, gone, gone)}},
			"4% of the cost is in code without names: /lib/b 2% (not here), /lib/a 1% (stripped), /lib/c 0.5% (not here), and 1 more: --symfs DIR; install a-dbgsym",
		},
		{"callers", [][]*run.Run{{build("cycles main a![a];b!f 30\ncycles main b!f 70", stripped)}}, "30% of the cost has callers in code without names: /lib/a 30% (stripped): install a-dbgsym"},
		{
			"mean of runs",
			[][]*run.Run{{build("cycles main a![a] 10\ncycles main b!f 90", stripped), build("cycles main b!f 1", stripped)}},
			"5% of the cost is in code without names: /lib/a 5% (stripped): install a-dbgsym",
		},
		{
			"two sides",
			[][]*run.Run{{build("cycles main a![a] 10\ncycles main b!f 90", stripped)}, {build("cycles main a!f 1")}},
			"10% of the cost of base and 0% of that of head is in code without names: /lib/a 10% and 0% (stripped): install a-dbgsym",
		},
		{"one side is empty", [][]*run.Run{nil, {build("cycles main a![a] 10")}}, "100% of the cost is in code without names: /lib/a 100%"},
	} {
		if got := run.UnnamedWarning(test.sides...); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestEmptyWarning checks what is said of runs without samples.
func TestEmptyWarning(t *testing.T) {
	for _, test := range []struct {
		accounting run.Accounting
		want       string
	}{
		{run.Accounting{In: 3, Out: 3}, ""},
		{run.Accounting{In: 3, Dropped: map[string]int64{"bad": 3}}, ""},
		{run.Accounting{In: 3, Filtered: 3}, "all 3 were filtered out"},
		{run.Accounting{Lost: 5}, "all 5 were lost"},
		{run.Accounting{}, "a higher frequency (-F)"},
	} {
		r := &run.Run{Accounting: test.accounting}
		got := strings.Join(r.AllWarnings(), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.accounting, got, test.want)
		}
	}
}
