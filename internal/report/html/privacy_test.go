package html

import (
	"strings"
	"testing"

	"profdiff/internal/run"
)

// TestClean checks that no text of a page tells directories, neither of absolute paths nor of inputs.
func TestClean(t *testing.T) {
	const input = "../customer/secret/01.data"
	for _, test := range []struct {
		opt      Options
		in, want string
	}{
		{Options{}, "perf record -o /home/me/a/perf.data -- /opt/app/bin/server --root=/srv/www/x", "perf record -o …/perf.data -- …/server --root=…/x"},
		{Options{}, "100/200 a/b kworker/u:1 https://debuginfod.elfutils.org", "100/200 a/b kworker/u:1 https://debuginfod.elfutils.org"},
		{Options{}, "LazyCompile:*run /home/me/app/lib/index.js:10:2", "LazyCompile:*run …/index.js:10:2"},
		{Options{}, `(C:\Users\me\app\tool.exe)`, "(…/tool.exe)"},
		{Options{}, input + ": 7% lost; ../customer/secret/recording.yaml", "01.data: 7% lost; …/recording.yaml"},
		{Options{}, "runs/x/01.data: 7% lost", "x/01.data: 7% lost"},
		{Options{Private: true}, "runs/x/01.data: 7% lost", "01.data: 7% lost"},
		{Options{Paths: true}, "/home/me/" + input, "/home/me/" + input},
	} {
		d := &Document{options: test.opt, files: []string{input, "runs/x/01.data"}}
		if got := d.clean()(test.in); got != test.want {
			t.Errorf("%q is %q, want %q", test.in, got, test.want)
		}
	}
}

func TestProgram(t *testing.T) {
	rec := &run.Recording{CommandLine: "perf record -g -- 'TOKEN=x' /home/me/bin/tool --password=hunter2"}
	if got := new(Options).program(rec); got != "tool" {
		t.Errorf("the program is %q", got)
	}
	if got := (&Options{Commands: true}).program(rec); !strings.HasSuffix(got, "--password=hunter2") {
		t.Errorf("the command is %q", got)
	}
	for line, want := range map[string]string{"": "", "/usr/bin/perf record -a": "perf", "./a.out 5": "a.out", "env A=1 tool": "tool", "'/opt/my tools/x y' 5": "x y"} {
		if got := (&run.Recording{CommandLine: line}).ProgramName(); got != want {
			t.Errorf("%q runs %q, want %q", line, got, want)
		}
	}
}
