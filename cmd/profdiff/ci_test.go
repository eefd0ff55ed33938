package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/budget"
)

// ciFile reads a file of .ci.
func ciFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../.ci", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// perfBudgetOptions are the options that perf-budget takes.
func perfBudgetOptions(t *testing.T) []string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^\t(run=\* .*)\)$`).FindStringSubmatch(ciFile(t, "perf-budget"))
	if line == nil {
		t.Fatal("no list of options in perf-budget")
	}
	return strings.Split(strings.ReplaceAll(line[1], "=*", ""), " | ")
}

// checkCalls checks that what a script passes to perf-budget is an option of it, and that
// scripts that it names exist and can be run.
func checkCalls(t *testing.T, script string) {
	t.Helper()
	options := perfBudgetOptions(t)
	calls := 0
	for _, m := range regexp.MustCompile(`"([a-z-]+)=[^"]*"`).FindAllStringSubmatch(script, -1) {
		if m[1] == "reports" {
			continue
		}
		calls++
		if !slices.Contains(options, m[1]) {
			t.Errorf("perf-budget has no option %s", m[1])
		}
	}
	if calls < len(options)-1 {
		t.Errorf("%d options of %d are passed", calls, len(options))
	}
	for _, m := range regexp.MustCompile(`/(?:\.ci|\.\.)/([a-z-]+)"?`).FindAllStringSubmatch(script, -1) {
		info, err := os.Stat(filepath.Join("../../.ci", m[1]))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be run: %v", m[1], err)
		}
	}
}

// TestGitHubAction checks the composite action: its form, that each input is used and each
// that is used is declared, and that no input becomes part of a script.
func TestGitHubAction(t *testing.T) {
	text := ciFile(t, "github/action.yml")
	var action struct {
		Name, Description string
		Inputs            map[string]struct {
			Description string
			Required    bool
			Default     *string
		}
		Outputs map[string]struct{ Description, Value string }
		Runs    struct {
			Using string
			Steps []struct {
				Name, ID, Shell, Run, Uses, If string
				Env, With                      map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(text), &action, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || action.Name == "" || action.Description == "" {
		t.Errorf("action %+v", action)
	}
	used := make(map[string]bool)
	for _, m := range regexp.MustCompile(`\$\{\{ *inputs\.([a-z-]+) *\}\}`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
		if _, ok := action.Inputs[m[1]]; !ok {
			t.Errorf("input %s is not declared", m[1])
		}
	}
	for name, input := range action.Inputs {
		if !used[name] || input.Description == "" || !input.Required && input.Default == nil {
			t.Errorf("input %s: used %v, %+v", name, used[name], input)
		}
		if name != "out" && !slices.Contains(perfBudgetOptions(t), name) {
			t.Errorf("input %s is no option of perf-budget", name)
		}
	}
	var ids []string
	for _, s := range action.Runs.Steps {
		ids = append(ids, s.ID)
		switch {
		case (s.Run == "") == (s.Uses == ""):
			t.Errorf("step %s has run and uses, or neither", s.Name)
		case s.Run == "":
			if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(s.Uses) {
				t.Errorf("step %s uses %s, which is not pinned by its hash", s.Name, s.Uses)
			}
			continue
		case s.Shell == "":
			t.Errorf("step %s has no shell", s.Name)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s has an expression in its script: pass it by env", s.Name)
		}
		for _, m := range regexp.MustCompile(`\$\{?((?:INPUT|ACTION)_[A-Z_]+)`).FindAllStringSubmatch(s.Run, -1) {
			if _, ok := s.Env[m[1]]; !ok {
				t.Errorf("step %s uses %s, which is not in its env", s.Name, m[1])
			}
		}
		for name := range s.Env {
			if !strings.Contains(s.Run, "$"+name) {
				t.Errorf("step %s does not use %s", s.Name, name)
			}
		}
		shellSyntax(t, "bash", s.Run)
		if strings.Contains(s.Run, "perf-budget") {
			checkCalls(t, s.Run)
		}
	}
	for name, o := range action.Outputs {
		if m := regexp.MustCompile(`steps\.([a-z]+)\.`).FindStringSubmatch(o.Value); m == nil || !slices.Contains(ids, m[1]) {
			t.Errorf("output %s is of no step: %s", name, o.Value)
		}
	}
}

// TestGitLabTemplate checks the template: its form, that each variable is used and each that
// is used is declared.
func TestGitLabTemplate(t *testing.T) {
	text := ciFile(t, "gitlab/profdiff.gitlab-ci.yml")
	var jobs map[string]struct {
		Stage, Image string
		Rules        []map[string]string
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		Artifacts    struct {
			When    string
			Paths   []string
			Reports map[string]string
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(text), &jobs, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	job, ok := jobs[".profdiff"]
	if !ok || len(jobs) != 1 || len(job.Script) == 0 {
		t.Fatalf("jobs %+v", jobs)
	}
	script := strings.Join(append(job.BeforeScript, job.Script...), "\n")
	for name := range job.Variables {
		if name != "GIT_DEPTH" && !regexp.MustCompile(`\$\{?`+name+`\b`).MatchString(script) {
			t.Errorf("variable %s is not used", name)
		}
	}
	for _, m := range regexp.MustCompile(`\$(P[A-Z_]+)`).FindAllStringSubmatch(script, -1) {
		if _, ok := job.Variables[m[1]]; !ok {
			t.Errorf("variable %s is not declared", m[1])
		}
	}
	for _, line := range append(job.BeforeScript, job.Script...) {
		shellSyntax(t, "sh", line)
	}
	checkCalls(t, strings.Join(job.Script, "\n"))
	for kind, file := range job.Artifacts.Reports {
		if !strings.Contains(ciFile(t, "perf-budget"), strings.TrimPrefix(file, "perf-budget/")) && !strings.Contains(ciFile(t, "perf-budget"), filepath.Base(file)) {
			t.Errorf("report %s: perf-budget does not write %s", kind, file)
		}
	}
}

// shellSyntax checks a script without running it.
func shellSyntax(t *testing.T, shell, script string) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Logf("%s is not installed", shell)
		return
	}
	cmd := exec.Command(path, "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", shell, err, out)
	}
}

// TestCIScripts checks that scripts can be read, and that commands and flags of profdiff that
// they use exist.
func TestCIScripts(t *testing.T) {
	root := newRoot(&stdio{out: io.Discard, err: io.Discard})
	for _, name := range []string{"perf-budget", "check-self", "play"} {
		script := ciFile(t, name)
		shellSyntax(t, "sh", script)
		info, err := os.Stat(filepath.Join("../../.ci", name))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be run: %v", name, err)
		}
		if shellcheck, err := exec.LookPath("shellcheck"); err == nil {
			if out, err := exec.Command(shellcheck, filepath.Join("../../.ci", name)).CombinedOutput(); err != nil {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
	script := ciFile(t, "perf-budget")
	for command, flags := range map[string][]string{
		"record": {"git", "build", "runs", "event", "output", "work"},
		"check":  {"budget", "out", "html"},
	} {
		cmd, _, err := root.Find([]string{command})
		if err != nil || cmd == root || !strings.Contains(script, `"$profdiff" `+command) {
			t.Errorf("perf-budget runs no %s: %v", command, err)
			continue
		}
		for _, flag := range flags {
			if f := lookup(cmd, flag); f == nil || !strings.Contains(script, "--"+flag) && !strings.Contains(script, " -"+f.Shorthand+" ") {
				t.Errorf("perf-budget uses no %s of %s", flag, command)
			}
		}
	}
	for _, format := range regexp.MustCompile(`--out "?([a-z-]+)=`).FindAllStringSubmatch(script, -1) {
		if !slices.Contains(outFormats, format[1]) {
			t.Errorf("perf-budget wants the format %s", format[1])
		}
	}
	for _, name := range []string{"../../.profdiff.yaml", "testdata/play/profdiff.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := budget.Parse(name, data); err != nil {
			t.Error(err)
		}
	}
}

func lookup(cmd *cobra.Command, flag string) *pflag.Flag { return cmd.Flags().Lookup(flag) }
