package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/llvm"
	"profdiff/internal/report/text"
)

// everyCommand calls a function with each command.
func everyCommand(root *cobra.Command, visit func(*cobra.Command)) {
	visit(root)
	for _, sub := range root.Commands() {
		everyCommand(sub, visit)
	}
}

func testRoot() *cobra.Command {
	return newRoot(&stdio{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}})
}

// TestHelp checks that help fits a terminal of 80 columns, begins with what the command is for, has
// two examples, and every flag in a group.
func TestHelp(t *testing.T) {
	everyCommand(testRoot(), func(cmd *cobra.Command) {
		words := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		got := runCommand(t, []int{0}, words...)
		for line := range strings.Lines(got) {
			if n := text.Width(strings.TrimSuffix(line, "\n")); n > helpWidth || strings.Contains(line, "\t") {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		first, _, _ := strings.Cut(got, "\n")
		if first != cmd.Short+"." || cmd.Short == "" {
			t.Errorf("%s: the first line is %q", cmd.CommandPath(), first)
		}
		if n := len(examplesOf(cmd)); n < 2 || !strings.Contains(got, "\nExamples:\n"+cmd.Example+"\n") {
			t.Errorf("%s: %d examples", cmd.CommandPath(), n)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if title, _ := groupOf(cmd, f.Name); f.Name != "help" && title == "" {
				t.Errorf("%s --%s is in no group: see flagGroups", cmd.CommandPath(), f.Name)
			}
			if f.Name != "help" && !f.Hidden && !regexp.MustCompile(`(?m)^ .*--`+regexp.QuoteMeta(f.Name)+`\b`).MatchString(got) {
				t.Errorf("%s: the help lacks --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// TestHelpInFull checks that help COMMAND says all that is to be known of it.
func TestHelpInFull(t *testing.T) {
	everyCommand(testRoot(), func(cmd *cobra.Command) {
		got := runCommand(t, []int{0}, append([]string{"help"}, strings.Fields(cmd.CommandPath())[1:]...)...)
		if words := strings.Join(strings.Fields(cmd.Long), " "); !strings.Contains(strings.Join(strings.Fields(got), " "), words) {
			t.Errorf("help of %s lacks what is to be known of it:\n%s", cmd.CommandPath(), got)
		}
	})
	runCommand(t, []int{2}, "help", "nothing")
}

// TestFlagGroups checks that the table of groups has no flag that is none.
func TestFlagGroups(t *testing.T) {
	known := map[string]bool{"version": true} // which is added when the command runs
	everyCommand(testRoot(), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			known[f.Name], known[f.Name+":"+cmd.Name()] = true, true
		})
	})
	seen := make(map[string]bool)
	for _, g := range flagGroups {
		for name := range strings.FieldsSeq(g.flags) {
			if !known[name] || seen[name] {
				t.Errorf("%s is no flag, or twice in a group", name)
			}
			seen[name] = true
		}
	}
}

// examplesOf are the command lines of the examples of a command.
func examplesOf(cmd *cobra.Command) (list []string) {
	for line := range strings.SplitSeq(cmd.Example, "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "profdiff ") {
			list = append(list, line)
		}
	}
	return list
}

// notRun are commands whose examples record or measure, or need a store that scripts make: that
// they parse is checked.
var notRun = []string{"profdiff", "record", "selftest", "calibrate", "fleet"}

// TestExamples copies the examples of all commands to where the files are that they name, and runs
// them.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	heap, err := filepath.Abs("../../profiles/message-heap")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := func(from, to string) {
		if err := os.Symlink(filepath.Join(heap, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"before", "after", "symbols"} {
		link(name, name)
	}
	link("before/01.data", "perf.data")
	link("callgrind/before.out", "before.out")
	link("callgrind/after.out", "after.out")
	link("../../mca-cases/conditional-sum/branchy.x86-64.s", "before.s")
	link("../../mca-cases/conditional-sum/branchless.x86-64.s", "after.s")
	if err := os.WriteFile(filepath.Join(dir, ".profdiff.yaml"), []byte("version: 1\nbudgets:\n  - {id: total, limit: {fail: +5%}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, missing := llvm.Find(t.Context(), "")
	t.Chdir(dir)
	ran := 0
	everyCommand(testRoot(), func(cmd *cobra.Command) {
		for _, example := range examplesOf(cmd) {
			for _, shell := range []string{" > ", " < ", " && "} {
				example, _, _ = strings.Cut(example, shell)
			}
			words := strings.Fields(example)[1:]
			name := cmd.Name()
			if cmd.HasParent() && cmd.Parent().HasParent() && !slices.Contains(notRun, name) && slices.Contains(notRun, cmd.Parent().Name()) {
				name = cmd.Parent().Name()
			}
			switch {
			case slices.Contains(notRun, name), missing != nil && (name == "predict" || name == "loops"):
				of, rest, err := testRoot().Find(words)
				if err == nil {
					err = of.ParseFlags(rest)
				}
				if err != nil {
					t.Errorf("%s: %v", example, err)
				}
			default:
				ran++
				runCommand(t, []int{0}, words...)
			}
		}
	})
	if ran < 20 {
		t.Errorf("only %d examples were run", ran)
	}
}
