package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"profdiff/internal/run"
)

// foreignWord is text that commands a terminal, ends a line, begins one that a CI takes for a command, and reorders
// what is behind it.
const foreignWord = "x\x1b[31m\u009b2J\r\n::error::y\n##[error]z\u202e\u2066\u200b\x7f"

// writeForeign writes a profile in which every text is foreign.
func writeForeign(t *testing.T, name string, factor int64) {
	t.Helper()
	b := run.NewBuilder(name)
	event := b.Event(run.Event{Name: "cpu" + foreignWord, Unit: "count"})
	mapping := b.Mapping(run.Mapping{File: "/lib/" + foreignWord + ".so", Limit: 1 << 20, BuildID: foreignWord})
	labels := b.Labels(run.Labels{Process: foreignWord, Thread: "t" + foreignWord, State: foreignWord, PID: 1, TID: 1, CPU: -1})
	var stack run.StackID
	for i := range 20 {
		f := fmt.Sprintf("f%d", i)
		function := b.Function(run.Function{Name: f + foreignWord, SystemName: "_Z" + f + foreignWord, File: "src/" + foreignWord + ".c"})
		caller := stack
		stack = b.Stack(stack, b.Location(mapping, uint64(100*i), run.Line{Function: function, Line: 3}))
		b.AddSum(event, stack, labels, 1000, 1000*(factor+int64(i)), 1e6)
		if i%5 == 4 {
			stack = caller
		}
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.WriteProfile(&out, run.ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestForeignText has every output that is text written of profiles whose texts are foreign, in files that are called
// so: nothing in it moves a cursor, is a line of its own or reorders what is beside it.
func TestForeignText(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"+strings.ReplaceAll(foreignWord, "/", "")), filepath.Join(dir, "after"+foreignWord)
	writeForeign(t, before, 10)
	writeForeign(t, after, 30)
	budgets := filepath.Join(dir, "budgets.yaml")
	if err := os.WriteFile(budgets, []byte("version: 1\ndefaults: {normalize: none}\nbudgets:\n  - {id: all, limit: {fail: +1%}}\n  - {id: f, match: {function: ^f1}, limit: {fail: +1%}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"show", before},
		{"show", before, "--tree"},
		{"show", before, "--by", "dso"},
		{"show", before, "--by", "thread"},
		{"show", before, "--by", "file"},
		{"show", before, "--by", "process"},
		{"show", before, "--by", "state"},
		{"show", before, "--format", "json"},
		{"show", before, "--format", "csv"},
		{"convert", before, "-o", "-", "--to", "folded"},
		{"convert", before, "-o", "-", "--to", "json"},
		{"diff", before, after},
		{"diff", before, after, "--tree"},
		{"diff", before, after, "--full"},
		{"diff", before, after, "--lines"},
		{"diff", before, after, "--focus", "^f1"},
		{"show", before, "--focus", "f1" + foreignWord[:1]},
		{"diff", before, after, "--tree", "--bottom-up"},
		{"diff", before, after, "--html", filepath.Join(dir, "page.html")},
		{"budget", "init", before},
		{"budget", "explain", before, after, "--budget", budgets},
		{"budget", "tighten", before, after, "--budget", budgets},
		{"fleet", "plan", before, after, "--release", "r" + foreignWord},
		{"fleet", "ingest", before, "--release", "a" + foreignWord, "--out", filepath.Join(dir, "store")},
		{"fleet", "ingest", after, "--release", "b" + foreignWord, "--out", filepath.Join(dir, "store")},
		{"fleet", "show", filepath.Join(dir, "store")},
		{"fleet", "show", filepath.Join(dir, "store"), "--format", "json"},
		{"fleet", "show", filepath.Join(dir, "store"), "--release", "a" + foreignWord},
	}
	for i := range diffOutputs {
		if name := diffOutputs[i].name; name != "pprof" {
			commands = append(commands, []string{"diff", before, after, "--format", name})
		}
	}
	for _, name := range outFormats {
		commands = append(commands, []string{"check", before, after, "--budget", budgets, "--report-only", "--format", name})
	}
	fine := len(commands)
	commands = append(commands, [][]string{
		{"show", filepath.Join(dir, "absent"+foreignWord)},
		{"diff", before, budgets + foreignWord},
		{"show", before, "--event", foreignWord},
		{foreignWord},
		{"show", "--" + foreignWord},
		{"show", before, "--by", foreignWord},
		{"fleet", "show", foreignWord},
	}...)
	own := regexp.MustCompile(`^::(error|warning|notice)( [a-z]+=[^:]*)?::`)
	for i, args := range commands {
		var stdout, stderr bytes.Buffer
		code := execute(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
		if i < fine && (code != exitOK || stdout.Len() == 0) || i >= fine && (code == exitOK || stderr.Len() == 0) {
			t.Errorf("%q: exit code %d: %s", args, code, &stderr)
		}
		for _, out := range []*bytes.Buffer{&stdout, &stderr} {
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				at := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) })
				if at >= 0 {
					t.Errorf("%q: exit code %d: %q has %q", args, code, line, line[at:min(len(line), at+20)])
				}
				github := args[0] == "check" && args[len(args)-1] == "github"
				if strings.HasPrefix(line, "::error::y") || strings.HasPrefix(line, "##[") || strings.HasPrefix(line, "::") && !(github && own.MatchString(line)) {
					t.Errorf("%q: exit code %d: %q is a command", args, code, line)
				}
			}
		}
	}
}
