package diff

import (
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

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
