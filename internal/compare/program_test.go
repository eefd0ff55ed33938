package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// TestProgramUnderTest checks that the program that was recorded is one row on both sides,
// whatever it is called, and that others stay apart.
func TestProgramUnderTest(t *testing.T) {
	side := func(program, library, other string, weight int) []*run.Run {
		spec := strings.NewReplacer("PROGRAM", program, "LIBRARY", library, "OTHER", other).Replace(
			"cpu-cycles PROGRAM PROGRAM!main;PROGRAM![PROGRAM]" + strings.Repeat(" 10", weight) +
				"\ncpu-cycles PROGRAM PROGRAM!main;LIBRARY!inflate" + strings.Repeat(" 10", 50) +
				"\ncpu-cycles PROGRAM:io PROGRAM!main;libc.so.6!read" + strings.Repeat(" 10", 30) +
				"\ncpu-cycles OTHER OTHER!serve" + strings.Repeat(" 10", 40))
		r := runtest.Build(t, "run of "+program, spec)
		r.Recording.CommandLine = "perf record -o x -- ./" + program + " 7"
		for i := range r.Labels {
			r.Labels[i].Process = strings.TrimSuffix(r.Labels[i].Thread, ":io")
		}
		return []*run.Run{r}
	}
	base, head := side("old", "libz.so.1.2.11", "otherd", 100), side("new", "libz.so.1.2.12", "daemon", 110)
	c := mustCompare(t, base, head, Options{Normalize: None, GroupBy: []run.GroupBy{run.ByDSO, run.ByProcess, run.ByThread}})
	if want := []string{
		"threads differ; only in base: otherd; only in head: daemon",
		"45% of the cost of base and 48% of that of head is in code without names: /lib/new 0% and 48%, /lib/old 45% and 0%",
	}; !slices.Equal(c.Warnings, want) {
		t.Errorf("warnings %q, want %q", c.Warnings, want)
	}
	e := &c.Events[0]
	want := map[run.GroupBy][][2]string{
		run.ByDSO:     {{"", "daemon"}, {"libc.so.6", "libc.so.6"}, {"libz.so.1.2.11", "libz.so.1.2.12"}, {"old", "new"}, {"otherd", "otherd"}},
		run.ByProcess: {{"", "daemon"}, {"old", "new"}, {"otherd", "otherd"}},
		run.ByThread:  {{"", "daemon"}, {"old", "new"}, {"old:io", "new:io"}, {"otherd", "otherd"}},
	}
	got := make(map[run.GroupBy][][2]string)
	for _, g := range e.Groups {
		for _, r := range g.Rows {
			got[g.By] = append(got[g.By], [2]string{r.BaseName, r.Name})
			if both := r.BaseName != "" && r.Name != "otherd"; both != (r.Self.BaseSamples > 0 && r.Self.HeadSamples > 0) {
				t.Errorf("%s %s: %d and %d samples", g.By, r.Name, r.Self.BaseSamples, r.Self.HeadSamples)
			}
		}
		slices.SortFunc(got[g.By], func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for name, files := range map[string][2]string{"main": {"old", "new"}, "inflate": {"libz.so.1.2.11", "libz.so.1.2.12"}, "[new]": {"old", "new"}} {
		if f := function(t, e, name); f.BaseDSO != files[0] || f.DSO != files[1] || f.Match.Confidence != 1 {
			t.Errorf("%s is in %s and %s: %+v", name, f.BaseDSO, f.DSO, f.Match)
		}
	}
}

// TestFilesOfOneName checks that two files of one base name are not compared as one: what the
// first costs more the second costs less here.
func TestFilesOfOneName(t *testing.T) {
	side := func(name string, first, second int) []*run.Run {
		r := runtest.Build(t, name, "cpu-cycles python first.so!encode"+strings.Repeat(" 10", first)+
			"\ncpu-cycles python second.so!encode"+strings.Repeat(" 10", second))
		for i := range r.Mappings {
			if file := &r.Mappings[i].File; strings.HasSuffix(*file, ".so") {
				*file = "/lib/" + strings.TrimSuffix(strings.TrimPrefix(*file, "/lib/"), ".so") + "/_speedups.so"
			}
		}
		return []*run.Run{r}
	}
	c := mustCompare(t, side("base", 100, 300), side("head", 300, 100), Options{Normalize: None, GroupBy: []run.GroupBy{run.ByDSO}})
	e := &c.Events[0]
	ratios := make(map[string]float64)
	for i := range e.Functions {
		ratios[e.Functions[i].Name+" in "+e.Functions[i].DSO] = e.Functions[i].Self.Ratio
	}
	for _, r := range e.Groups[0].Rows {
		ratios[r.Name] = r.Self.Ratio
	}
	want := map[string]float64{
		"encode in first/_speedups.so": 3, "encode in second/_speedups.so": 1. / 3, "first/_speedups.so": 3, "second/_speedups.so": 1. / 3,
	}
	if diff := cmp.Diff(want, ratios, cmpopts.EquateApprox(0.05, 0)); diff != "" {
		t.Error(diff)
	}
}
