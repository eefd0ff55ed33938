package diff

import (
	"io"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// TestLeadsOfEvents lists a function that several events tell of in the one where its lead is strongest,
// and says elsewhere that it is.
func TestLeadsOfEvents(t *testing.T) {
	side := func(name string, parse, read, cold int) []*run.Run {
		lines := func(event, stack string, n int) string {
			return "\n" + event + " main " + stack + strings.Repeat(" 10", n)
		}
		spec := strings.TrimSpace(lines("cpu-cycles", "a!main;a!rest", 4000) + lines("instructions", "a!main;a!rest", 4000) +
			lines("cpu-cycles", "a!main;a!parse", parse) + lines("instructions", "a!main;a!parse", 2*parse) +
			lines("cpu-cycles", "a!main;a!read", read) + lines("instructions", "a!main;a!read", 400) + lines("cpu-cycles", "a!main;a!cold", cold))
		return []*run.Run{runtest.Build(t, name, spec)}
	}
	d := New(comparison(t, side("base", 400, 400, 1), side("head", 700, 560, 47), compare.Options{Normalize: compare.None}), Parts{})
	var got []string
	for _, i := range d.Leads.Functions {
		got = append(got, d.Functions[i].Event+" "+d.Functions[i].Name)
	}
	if want := []string{"instructions parse", "cpu-cycles read", "cpu-cycles cold"}; !slices.Equal(got, want) {
		t.Errorf("leads are %q, want %q", got, want)
	}
	summary := string(reporttest.Written(t, func(w io.Writer) error { return WriteSummary(w, d, false) }))
	for _, want := range []string{"(1 lead is stronger in another event: see there)\n", "σ few  "} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
	if n := strings.Count(summary, " parse\n"); n != 1 {
		t.Errorf("parse is listed %d times:\n%s", n, summary)
	}
}

// TestRecordLine names the recordings that would give verdicts.
func TestRecordLine(t *testing.T) {
	perf := func(command string) run.Recording { return run.Recording{CommandLine: "perf record -g -- " + command} }
	for _, test := range []struct {
		name       string
		event      string
		base, head run.Recording
		want, note string
	}{
		{"two programs", "cpu-clock", perf("./old x"), perf("./new x"), "profdiff record --before './old x' --after './new x' --runs 10 -o runs", ""},
		{
			"for a shell", "cycles:u", perf("sh -c './old < \"a b\"'"), perf("sh -c './new < \"a b\"'"),
			`profdiff record --before './old < "a b"' --after './new < "a b"' --runs 10 -o runs`, "",
		},
		{"with quotes", "cpu-clock", perf(`./old 'it'\''s'`), perf("./new 7"), `profdiff record --before './old '\''it'\''\'\'''\''s'\''' --after './new 7' --runs 10 -o runs`, ""},
		{
			"the same command", "cpu-clock", perf("./app x"), perf("./app x"), "profdiff record --git BASE..HEAD --build CMD --runs 10 -o runs -- ./app x",
			"both sides ran the same command: BASE..HEAD are the commits of the two builds, CMD builds one",
		},
		{
			"the same command for a shell", "cpu-clock", perf("sh -c './app < x'"), perf("sh -c './app < x'"),
			"profdiff record --git BASE..HEAD --build CMD --runs 10 -o runs -- sh -c './app < x'",
			"both sides ran the same command: BASE..HEAD are the commits of the two builds, CMD builds one",
		},
		{
			"unknown", "branch-misses",
			run.Recording{},
			perf("./new"), "profdiff record -e branch-misses --before CMD --after ./new --runs 10 -o runs",
			"the recordings do not say what was run: CMD runs the program before and after the change",
		},
		{
			"a window of time", "cpu-clock",
			run.Recording{CommandLine: "perf record -a sleep 2"},
			run.Recording{CommandLine: "perf record -a sleep 2"},
			"profdiff record -a --before CMD --after CMD --runs 10 -o runs", "a window of time was recorded (recorded system-wide): CMD does the work, before and after the change",
		},
		{
			"how it was recorded", "cpu-clock",
			run.Recording{CommandLine: "perf record -a --call-graph dwarf ./old"},
			perf("./new"),
			"profdiff record --call-graph dwarf -a --before ./old --after ./new --runs 10 -o runs", "",
		},
	} {
		c := &compare.Comparison{
			Base: []*run.Run{{Recording: test.base}}, Head: []*run.Run{{Recording: test.head}},
			Events: []compare.Event{{Name: test.event, Normalization: &compare.Normalization{Mode: compare.None}}},
		}
		if line, note := recordLine(c, true, "--runs", "10"); line != test.want || note != test.note {
			t.Errorf("%s:\n got %s (%s)\nwant %s (%s)", test.name, line, note, test.want, test.note)
		}
	}
	// Arguments may be secret.
	for _, test := range []struct{ base, head, want string }{
		{"./old --password=x", "env TOKEN=x /home/me/new -v", "profdiff record --before 'old …' --after 'new …' --runs 10 -o runs"},
		{"./app x", "./app x", "profdiff record --git BASE..HEAD --build CMD --runs 10 -o runs -- app …"},
		{"./old", "sh -c './new < x'", "profdiff record --before ./old --after 'new …' --runs 10 -o runs"},
	} {
		c := &compare.Comparison{
			Base: []*run.Run{{Recording: perf(test.base)}}, Head: []*run.Run{{Recording: perf(test.head)}},
			Events: []compare.Event{{Name: "cpu-clock", Normalization: &compare.Normalization{Mode: compare.None}}},
		}
		if line, _ := recordLine(c, false, "--runs", "10"); line != test.want {
			t.Errorf("without arguments:\n got %s\nwant %s", line, test.want)
		}
	}
}
