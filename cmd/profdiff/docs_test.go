package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/llvm"
)

var consoleBlock = regexp.MustCompile("(?ms)^```console\n\\$ profdiff ([^\n]*)\n(.*?)^```$")

// TestReadmes runs the commands in console blocks of the README and of the case
// studies, and compares what they print. -update rewrites it.
func TestReadmes(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // perf, which other tests run, fills its cache below the usual one
	t.Chdir("../..")
	files := []string{"README.md", "mca-cases/atomics/README.md"}
	for _, dir := range cases(t, "profiles") {
		files = append(files, dir+"/README.md")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, blocks := transcripts(t, file, string(text))
		if blocks == 0 {
			t.Errorf("%s: no console blocks", file)
		}
		if got == string(text) {
			continue
		}
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s is not what profdiff prints, -update rewrites it: %s", file, cmp.Diff(string(text), got))
	}
}

// transcripts runs the commands in the console blocks of a file, in the folder of the
// repository, and returns its text with what they print.
func transcripts(t *testing.T, file, text string) (got string, blocks int) {
	t.Helper()
	got = consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
		blocks++
		command := consoleBlock.FindStringSubmatch(block)[1]
		if name, _, _ := strings.Cut(command, " "); name == "predict" || name == "loops" {
			// Their output names the version of LLVM.
			if tools, err := llvm.Find(t.Context(), ""); err != nil || tools.Major != 22 {
				t.Logf("llvm-mca-22 is not installed: profdiff %s was not run", command)
				return block
			}
		}
		var out, errs bytes.Buffer
		if code := execute(context.Background(), strings.Fields(command), strings.NewReader(""), &out, &errs); code != 0 {
			t.Errorf("%s: %s: exit code %d: %s", file, command, code, errs.String())
		}
		return "```console\n$ profdiff " + command + "\n" + out.String() + "```"
	})
	return got, blocks
}

// TestQuotedRates checks that the rows of error rates in the README stand in the tables
// that the simulations wrote.
func TestQuotedRates(t *testing.T) {
	t.Chdir("../..")
	known := make(map[string]bool)
	for _, file := range []string{"internal/stats/acceptance.md", "internal/compare/acceptance.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			known[strings.TrimSpace(line)] = true
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^ *(\| [VP][0-9]+ \|.*)$`).FindAllStringSubmatch(string(readme), -1)
	if len(rows) < 8 {
		t.Errorf("%d rows of error rates", len(rows))
	}
	for _, row := range rows {
		if !known[row[1]] {
			t.Errorf("no simulation wrote the row %s", row[1])
		}
	}
}

// TestTwoCommands checks that the first screen of the README has the two commands,
// and that continuous integration runs the second.
func TestTwoCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(readme), "\n", 25)
	screen := strings.Join(lines[:24], "\n")
	first := regexp.MustCompile("(?m)^go run ./cmd/profdiff (diff .*)$").FindStringSubmatch(screen)
	if first == nil || !strings.Contains(string(readme), "\n$ profdiff "+first[1]+"\n") {
		t.Errorf("the README does not show what its first command %q prints", first)
	}
	if !strings.Contains(screen, "\n.ci/test\n") {
		t.Error("the README's first screen does not have .ci/test")
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(ci), "\nexec .ci/test --strict\n") {
		t.Error(".ci/run does not run .ci/test")
	}
}

// TestReference compares reference.md with the commands. -update rewrites it.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nWritten by `go test ./cmd/profdiff -run Reference -update`.\n")
	root := newRoot(&stdio{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	describe(&b, root)
	const file = "reference.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is not what the commands say, -update rewrites it: %s", file, diff)
	}
}

func describe(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n", cmd.CommandPath(), text)
	if cmd.Runnable() && cmd.HasParent() {
		fmt.Fprintf(b, "\n    %s\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n%s\n", regexp.MustCompile(`(?m)^  `).ReplaceAllString(cmd.Example, "    "))
	}
	var flags []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "version" {
			return
		}
		name, usage := flagText(f)
		flags = append(flags, "* `"+name+"` "+usage)
	})
	if len(flags) > 0 {
		b.WriteString("\n" + strings.Join(flags, "\n") + "\n")
	}
	for _, sub := range cmd.Commands() {
		describe(b, sub)
	}
}
