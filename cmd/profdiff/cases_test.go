package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/record"
)

var again = flag.String("again", "", "build the case study `NAME`, record it again and compare; with -update, keep that")

// expectations are what case.yaml says that a comparison has to come to.
type expectations struct {
	// Within is by which factor above 1 a ratio may differ from the expected one.
	Within float64
	Event  struct {
		Name, Verdict string
		Ratio         *float64
	}
	Functions  map[string]expectation // self
	Threads    map[string]expectation
	Categories map[string]expectation
}

type expectation struct {
	Verdict string // or not VERDICT
	Ratio   *float64
}

// compared is what the tests read of the output of diff --format json.
type compared struct {
	Events     []comparedEvent
	Functions  []comparedFunction
	Threads    []comparedGroup
	Categories []comparedGroup
}

type comparedEvent struct {
	Event string
	comparedChange
}

type comparedFunction struct {
	Name, Event string
	Self        comparedChange
}

type comparedGroup struct {
	Name, Event string
	comparedChange
}

type comparedChange struct {
	Verdict string
	Ratio   *float64
}

// holds reports whether a verdict is the expected one.
func (want *expectation) holds(verdict string) bool {
	if other, ok := strings.CutPrefix(want.Verdict, "not "); ok {
		return verdict != other
	}
	return verdict == want.Verdict
}

// check compares one change with what is expected of it.
func (e *expectations) check(t *testing.T, what string, want expectation, got *comparedChange) {
	t.Helper()
	switch {
	case got == nil:
		t.Errorf("%s: is missing, want %s", what, want.Verdict)
	case !want.holds(got.Verdict):
		t.Errorf("%s: %s %s, want %s %s", what, got.Verdict, ratioText(got.Ratio), want.Verdict, ratioText(want.Ratio))
	case want.Ratio != nil && (got.Ratio == nil || !(math.Abs(math.Log(*got.Ratio / *want.Ratio)) <= math.Log(e.Within))):
		t.Errorf("%s: %s %s, want %s within a factor of %v", what, got.Verdict, ratioText(got.Ratio), ratioText(want.Ratio), e.Within)
	default:
		t.Logf("%s: %s %s, expected %s", what, got.Verdict, ratioText(got.Ratio), ratioText(want.Ratio))
	}
}

func ratioText(r *float64) string {
	if r == nil {
		return "(no ratio)"
	}
	return fmt.Sprintf("%.3f", *r)
}

// checkExpected compares the recordings in folder, made as those of the case study dir
// are, with what its case.yaml expects.
func checkExpected(t *testing.T, folder, dir string, e *expectations) {
	t.Helper()
	if e.Event.Name == "" || !(e.Within > 1) {
		t.Fatalf("case.yaml: expected: event %q, within %v: want an event, and a factor above 1", e.Event.Name, e.Within)
	}
	args := []string{"diff", folder, "--format", "json", "--event", e.Event.Name}
	if categories := filepath.Join(dir, "categories.yaml"); isFile(categories) {
		args = append(args, "--categories", categories)
	}
	var out, errs bytes.Buffer
	if code := execute(context.Background(), args, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, &errs)
	}
	var got compared
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Events) != 1 {
		t.Fatalf("%d events are %s", len(got.Events), e.Event.Name)
	}
	e.check(t, e.Event.Name, expectation{e.Event.Verdict, e.Event.Ratio}, &got.Events[0].comparedChange)
	for _, name := range slices.Sorted(maps.Keys(e.Functions)) {
		var change *comparedChange
		if i := slices.IndexFunc(got.Functions, func(f comparedFunction) bool { return f.Name == name }); i >= 0 {
			change = &got.Functions[i].Self
		}
		e.check(t, "function "+name, e.Functions[name], change)
	}
	groups := func(kind string, want map[string]expectation, rows []comparedGroup) {
		for _, name := range slices.Sorted(maps.Keys(want)) {
			var change *comparedChange
			if i := slices.IndexFunc(rows, func(g comparedGroup) bool { return g.Name == name }); i >= 0 {
				change = &rows[i].comparedChange
			}
			e.check(t, kind+" "+name, want[name], change)
		}
	}
	groups("thread", e.Threads, got.Threads)
	groups("category", e.Categories, got.Categories)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func readCase(t *testing.T, dir string) *caseFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := new(caseFile)
	if err := yaml.Unmarshal(text, c); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return c
}

// TestCases compares the recordings that are kept with what is expected of them.
func TestCases(t *testing.T) {
	const root = "../../profiles"
	n := 0
	for _, dir := range cases(t, root) {
		if !isFile(filepath.Join(dir, record.FileName)) {
			continue // not made by profdiff record
		}
		n++
		c := readCase(t, dir)
		t.Run(c.Name, func(t *testing.T) {
			if c.Commands["again"] == "" {
				t.Error("case.yaml has no command to record again")
			}
			checkExpected(t, dir, dir, &c.Expected)
		})
	}
	if n == 0 {
		t.Error("no case study was made by profdiff record")
	}
}

// TestCasesNameNoMachine checks that recordings that are kept tell nothing of where
// they were made but the kernel and the CPU.
func TestCasesNameNoMachine(t *testing.T) {
	const root = "../../profiles"
	allowed := regexp.MustCompile(`^(\[|//anon$|/data/local/tmp/|/usr/bin/perf$)`)
	for _, dir := range cases(t, root) {
		for _, r := range readCase(t, dir).Runs {
			name := filepath.Join(dir, r.File)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
				continue
			}
			f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			names := slices.Clone(f.Info.Cmdline)
			for record, err := range f.Records() {
				if err != nil {
					t.Errorf("%s: %v", name, err)
					break
				}
				if record.Type != perffile.RecordMmap && record.Type != perffile.RecordMmap2 {
					continue
				}
				m, err := record.Mmap()
				if err != nil {
					t.Errorf("%s: %v", name, err)
					break
				}
				names = append(names, string(m.File))
			}
			for _, n := range names {
				if strings.HasPrefix(n, "/") && !allowed.MatchString(n) {
					t.Errorf("%s has the path %s", name, n)
				}
			}
			if f.Info.Hostname != "perf-lab" {
				t.Errorf("%s has the host name %q", name, f.Info.Hostname)
			}
			for _, a := range f.Attrs {
				if a.SampleType.Has(perffile.SampleRaw) {
					t.Errorf("%s has raw data of %s, which may name other programs", name, a.Name)
				}
			}
		}
	}
}

// TestCaseAgain builds and records a case study again, and compares the result with
// what is expected of it:
//
//	go test ./cmd/profdiff -run TestCaseAgain -v -again snapshot-merge
//
// With -update, the new recordings and what follows from them replace those that are
// kept: case.yaml from its mark on, and in README.md what profdiff prints and what the
// commands print that are followed by their output.
func TestCaseAgain(t *testing.T) {
	if *again == "" {
		return
	}
	t.Chdir("../..")
	dir := filepath.Join("profiles", filepath.FromSlash(*again))
	c := readCase(t, dir)
	if c.Commands["again"] == "" {
		t.Fatalf("%s: case.yaml has no command to record again", dir)
	}
	programs, folder := t.TempDir(), t.TempDir()
	shell(t, ".", nil, "go build -o '"+programs+"/profdiff' ./cmd/profdiff")
	env := []string{"PROFDIFF=" + programs + "/profdiff", "PATH=" + programs + ":" + os.Getenv("PATH"), "DIR=" + folder}
	shell(t, dir, env, c.Commands["again"])
	checkExpected(t, folder, dir, &c.Expected)
	if *update {
		keepRecording(t, dir, folder, c)
		rewriteReadme(t, dir, env)
	}
}

// shell runs a command in a folder and returns what it prints.
func shell(t *testing.T, dir string, env []string, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-euc", command)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &out, t.Output()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return out.String()
}

// generated begins the part of case.yaml that is made from the recordings.
const generated = "# What follows is written by TestCaseAgain.\n"

// keepRecording replaces the recordings of a case study.
func keepRecording(t *testing.T, dir, folder string, c *caseFile) {
	t.Helper()
	for _, name := range []string{string(record.Before), string(record.After), record.SymbolsName, record.KallsymsName, record.FileName} {
		to := filepath.Join(dir, name)
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		shell(t, ".", nil, "cp -r '"+filepath.Join(folder, name)+"' '"+to+"'")
	}
	name := filepath.Join(dir, "case.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ := strings.Cut(string(text), generated)
	if err := os.WriteFile(name, []byte(own+generated+facts(t, dir, c.Event)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// facts are those of case.yaml that follow from the files of a case study.
func facts(t *testing.T, dir, event string) string {
	t.Helper()
	rec, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	m := &rec.Machine
	fmt.Fprintf(&b, "machine:\n  cpu: %s\n  cores: %d\n  vm: %v\n  hostname: perf-lab # set for the recording\n", m.CPU, m.Cores, m.Virtual)
	fmt.Fprintf(&b, "kernel: Linux %s %s\ntools:\n  perf: %s\n", m.Kernel, m.Arch, strings.TrimPrefix(m.Tools[0], "perf version "))

	listed := map[string]bool{"README.md": true, "case.yaml": true}
	builds := map[string]string{} // by side
	for _, name := range caseFiles(t, dir) {
		rest, ok := strings.CutPrefix(name, record.SymbolsName+"/")
		if !ok {
			continue
		}
		side := filepath.Base(filepath.Dir(rest))
		if builds[side] != "" || side != string(record.Before) && side != string(record.After) {
			t.Fatalf("%s: is no binary of a side", name)
		}
		builds[side], listed[name] = rest, true
	}
	fmt.Fprintf(&b, "  compiler: '%s'\n", compiler(t, filepath.Join(dir, record.SymbolsName, builds[string(record.After)])))
	b.WriteString("builds:\n")
	for _, side := range []string{string(record.Before), string(record.After)} {
		name := filepath.Join(dir, record.SymbolsName, builds[side])
		fmt.Fprintf(&b, "  %s:\n    path: /%s\n    build_id: %s\n    sha256: %s\n", side, builds[side], buildID(t, name), fileHash(t, name))
	}
	fmt.Fprintf(&b, "runs_per_side: %d\norder: %s # before, after, after, before, …: the order of the list\nruns:\n", rec.Plan.Runs, rec.Order)
	for _, r := range rec.Runs {
		name := filepath.Join(dir, filepath.FromSlash(r.File))
		listed[r.File] = true
		var samples int64
		p := convert(t, name)
		if p.SampleType[1].Type != event {
			t.Fatalf("%s: the event is %s, want %s", name, p.SampleType[1].Type, event)
		}
		for _, s := range p.Sample {
			samples += s.Value[0]
		}
		fmt.Fprintf(&b, "  - {file: %s, user_seconds: %.3f, system_seconds: %.3f, load: %.2f, samples: %d, bytes: %d, sha256: %s}\n",
			r.File, r.UserSeconds, r.SystemSeconds, r.Conditions.Load, samples, r.Bytes, fileHash(t, name))
	}
	b.WriteString("other_inputs_sha256:\n")
	for _, name := range caseFiles(t, dir) {
		if !listed[name] {
			fmt.Fprintf(&b, "  %s: %s\n", name, fileHash(t, filepath.Join(dir, name)))
		}
	}
	return b.String()
}

// caseFiles lists the files of a case study, with slashes, without those of cases
// inside of it.
func caseFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && isFile(filepath.Join(path, "case.yaml")):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func fileHash(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

func buildID(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	o, err := objfile.New(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return o.BuildID()
}

// compiler is what a binary says it was compiled with.
func compiler(t *testing.T, name string) string {
	t.Helper()
	if info, err := buildinfo.ReadFile(name); err == nil {
		return info.GoVersion
	}
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := f.Section(".comment"); s != nil {
		if text, err := s.Data(); err == nil {
			first, _, _ := bytes.Cut(text, []byte{0})
			return string(first)
		}
	}
	return "unknown"
}

// shellBlock is a block of commands and one of what they print.
var shellBlock = regexp.MustCompile("(?m)^```sh\n((?:[^`\n].*\n|\n)*)```\n\n```text\n(?:[^`\n].*\n|\n)*```$")

// rewriteReadme runs the commands in the README of a case study, and puts what they
// print in the place of what they printed before.
func rewriteReadme(t *testing.T, dir string, env []string) {
	t.Helper()
	name := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := shellBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		command := shellBlock.FindStringSubmatch(block)[1]
		return "```sh\n" + command + "```\n\n```text\n" + shell(t, dir, env, command) + "```"
	})
	got, _ = transcripts(t, name, got)
	if got == string(text) {
		return
	}
	if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s is rewritten: read what the text says of its numbers", name)
}
