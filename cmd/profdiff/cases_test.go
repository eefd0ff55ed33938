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
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"profdiff/internal/input"
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

// An expectation is of one change; what is empty may be anything.
type expectation struct {
	Verdict  string // or not VERDICT, or no change
	Ratio    *float64
	Match    string // of functions
	BaseName string `yaml:"base_name"`
}

// A comparison is one of several of a case study. Sides are folders or files.
type comparison struct {
	Base, Head []string
	Expected   expectations
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
	Name     string
	BaseName string `json:"base_name"`
	Match    string
	Event    string
	Self     comparedChange
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
	switch want.Verdict {
	case "":
		return true
	case "no change":
		return verdict == "unchanged" || verdict == "inconclusive"
	}
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

// checkCase makes the comparisons of the case study dir with the recordings in folder,
// made as its own are, and compares the results with what its case.yaml expects.
func checkCase(t *testing.T, folder, dir string, c *caseFile) {
	t.Helper()
	var flags []string
	if categories := filepath.Join(dir, "categories.yaml"); isFile(categories) {
		flags = append(flags, "--categories", categories)
	}
	if !isFile(filepath.Join(folder, record.FileName)) { // of both sides
		flags = append(flags, "--ops", fmt.Sprint(c.Operations))
	}
	if len(c.Comparisons) == 0 {
		checkExpected(t, append([]string{folder}, flags...), &c.Expected)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Comparisons)) {
		pair := c.Comparisons[name]
		var args []string
		for _, path := range pair.Base {
			args = append(args, "--base", filepath.Join(folder, path))
		}
		for _, path := range pair.Head {
			args = append(args, "--head", filepath.Join(folder, path))
		}
		t.Run(name, func(t *testing.T) { checkExpected(t, append(args, flags...), &pair.Expected) })
	}
}

// checkExpected makes one comparison.
func checkExpected(t *testing.T, args []string, e *expectations) {
	t.Helper()
	if e.Event.Name == "" || !(e.Within > 1) {
		t.Fatalf("case.yaml: expected: event %q, within %v: want an event, and a factor above 1", e.Event.Name, e.Within)
	}
	args = append([]string{"diff", "--format", "json", "--event", e.Event.Name}, args...)
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
	e.check(t, e.Event.Name, expectation{Verdict: e.Event.Verdict, Ratio: e.Event.Ratio}, &got.Events[0].comparedChange)
	for _, name := range slices.Sorted(maps.Keys(e.Functions)) {
		var change *comparedChange
		want := e.Functions[name]
		if i := slices.IndexFunc(got.Functions, func(f comparedFunction) bool { return f.Name == name }); i >= 0 {
			f := &got.Functions[i]
			change = &f.Self
			if want.Match != "" && f.Match != want.Match || want.BaseName != "" && f.BaseName != want.BaseName {
				t.Errorf("function %s: %s, was %s; want %s, was %s", name, f.Match, f.BaseName, want.Match, want.BaseName)
			}
		}
		e.check(t, "function "+name, want, change)
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
	for _, dir := range cases(t, root) {
		c := readCase(t, dir)
		if c.Origin != "recorded" {
			continue // has tests of its own
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if c.Commands["again"] == "" {
				t.Error("case.yaml has no command to record again")
			}
			checkCase(t, dir, dir, c)
		})
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
			data, err := readRecording(name)
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

// TestOffCPUAccounting checks that every sample of a recording with --off-cpu is accounted
// for, samples of an event that is derived from others, too.
func TestOffCPUAccounting(t *testing.T) {
	const dir = "../../profiles/lock-free-queue/off-cpu"
	var out, errs bytes.Buffer
	if code := execute(context.Background(), []string{"diff", dir, "--event", "off-cpu"}, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	waiting := 0 // when the recordings ended
	for _, m := range regexp.MustCompile(`: ([0-9]+) threads were off the CPU at the end`).FindAllStringSubmatch(errs.String(), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		waiting += n
	}
	want, switches := map[string]int{}, map[string]int{}
	for _, r := range readCase(t, dir).Runs {
		data, err := os.ReadFile(filepath.Join(dir, r.File))
		if err != nil {
			t.Fatal(err)
		}
		f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for record, err := range f.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if record.Type == perffile.RecordSample {
				want[path.Dir(r.File)]++
				if f.Attrs[record.Attr].Name == "context-switches" {
					switches[path.Dir(r.File)]++
				}
			}
		}
	}
	shown := 0
	for side, name := range map[string]string{"before": "base", "after": "head"} {
		m := regexp.MustCompile(`(?m)^profdiff: ` + name + `, [0-9]+ runs: samples: ([0-9]+) in = 0 out \+ ([0-9]+) filtered \+ 0 dropped; .*; derived from what came in: ([0-9]+) off-cpu$`).FindStringSubmatch(errs.String())
		if m == nil {
			t.Fatalf("no accounting of %s in %s", name, &errs)
		}
		if in := fmt.Sprint(want[side]); m[1] != in || m[2] != in {
			t.Errorf("%s: %s in, %s filtered, want %s", name, m[1], m[2], in)
		}
		n, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		shown += n
	}
	if got := switches["before"] + switches["after"]; got == 0 || got != shown+waiting {
		t.Errorf("%d context switches, %d times off the CPU derived and %d threads waiting at the end", got, shown, waiting)
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
	checkCase(t, folder, dir, c)
	checkCallgrind(t, folder, dir)
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
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		to := filepath.Join(dir, e.Name())
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		shell(t, ".", nil, "cp -r '"+filepath.Join(folder, e.Name())+"' '"+to+"'")
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

// notes reads the notes of profdiff record in a case study: one file, or one for each pair
// of several sides.
func notes(t *testing.T, dir string) (list []*record.Recording) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "recordings", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		found = []string{dir}
	}
	for _, dir := range found {
		rec, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rec)
	}
	return list
}

// facts are the lines of case.yaml that follow from the files of a case study.
func facts(t *testing.T, dir, event string) string {
	t.Helper()
	list := notes(t, dir)
	var runs []record.Run
	for _, rec := range list {
		runs = append(runs, rec.Runs...)
	}
	slices.SortStableFunc(runs, func(a, b record.Run) int { return a.Start.Compare(b.Start) })
	counts := map[string]int{} // by build
	for _, r := range runs {
		counts[path.Dir(r.File)]++
	}
	names := slices.Sorted(maps.Keys(counts))
	if counts[string(record.Before)] > 0 {
		names = []string{string(record.Before), string(record.After)}
	}
	order := list[0].Order + " # " + map[string]string{
		record.ABBA:  "before, after, after, before, …: the order of the list",
		record.Drawn: "which run of a pair is first: the order of the list",
	}[list[0].Order]
	if len(list) > 1 {
		order = "interleaved # pairs in turn: the order of the list"
	}

	var b strings.Builder
	fmt.Fprintf(&b, "recorded_with: '%s'\n", perfCommand(t, filepath.Join(dir, filepath.FromSlash(runs[0].File))))
	m := &list[0].Machine
	fmt.Fprintf(&b, "machine:\n  cpu: %s\n  cores: %d\n  vm: %v\n  hostname: perf-lab # set for the recording\n", m.CPU, m.Cores, m.Virtual)
	fmt.Fprintf(&b, "kernel: Linux %s %s\ntools:\n  perf: %s\n", m.Kernel, m.Arch, strings.TrimPrefix(m.Tools[0], "perf version "))

	listed := map[string]bool{"README.md": true, "case.yaml": true}
	builds := map[string]string{} // by side
	for _, name := range caseFiles(t, dir) {
		rest, ok := strings.CutPrefix(name, record.SymbolsName+"/")
		if !ok || rest == record.KallsymsName {
			continue
		}
		side := filepath.Base(filepath.Dir(rest))
		if builds[side] != "" || counts[side] == 0 {
			t.Fatalf("%s: is no binary of a side", name)
		}
		builds[side], listed[name] = rest, true
	}
	fmt.Fprintf(&b, "  compiler: '%s'\n", compiler(t, filepath.Join(dir, record.SymbolsName, builds[names[len(names)-1]])))
	b.WriteString("builds:\n")
	least := slices.Min(slices.Collect(maps.Values(counts)))
	for _, side := range names {
		name := filepath.Join(dir, record.SymbolsName, builds[side])
		fmt.Fprintf(&b, "  %s:\n    path: /%s\n    build_id: %s\n    sha256: %s\n", side, builds[side], buildID(t, name), fileHash(t, name))
		if counts[side] != least {
			fmt.Fprintf(&b, "    runs: %d\n", counts[side])
		}
	}
	fmt.Fprintf(&b, "runs_per_side: %d\norder: %s\nruns:\n", least, order)
	for _, r := range runs {
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
	totals := callgrindTotals(t, dir)
	for i, build := range slices.Sorted(maps.Keys(totals)) {
		if i == 0 {
			b.WriteString("callgrind:\n")
		}
		file := "callgrind/" + build + ".out"
		listed[file] = true
		fmt.Fprintf(&b, "  %s: {file: %s, ", build, file)
		for _, event := range []string{"Ir", "Bc", "Bcm", "Bi", "Bim"} {
			if n, ok := totals[build][event]; ok {
				fmt.Fprintf(&b, "%s: %.0f, ", event, n)
			}
		}
		fmt.Fprintf(&b, "sha256: %s}\n", fileHash(t, filepath.Join(dir, file)))
	}
	b.WriteString("other_inputs_sha256:\n")
	for _, name := range caseFiles(t, dir) {
		if !listed[name] {
			fmt.Fprintf(&b, "  %s: %s\n", name, fileHash(t, filepath.Join(dir, name)))
		}
	}
	return b.String()
}

// readRecording reads a recording, which may be compressed.
func readRecording(name string) (data []byte, err error) {
	err = input.Read(name, nil, func(s *input.Source) error {
		data, err = io.ReadAll(s.Reader)
		return err
	})
	return data, err
}

// perfCommand is the command that a recording says it was made with.
func perfCommand(t *testing.T, name string) string {
	t.Helper()
	data, err := readRecording(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(strings.Join(f.Info.Cmdline, " "), "/usr/bin/")
}

// callgrindTotals are what callgrind counted of each build of a case study, by event.
func callgrindTotals(t *testing.T, dir string) map[string]map[string]float64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "callgrind", "*.out"))
	if err != nil {
		t.Fatal(err)
	}
	totals := make(map[string]map[string]float64)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		counts := make(map[string]float64)
		for line := range strings.Lines(string(text)) {
			key, rest, _ := strings.Cut(line, ":")
			switch key {
			case "events":
				events = strings.Fields(rest)
			case "summary", "totals":
				for i, n := range strings.Fields(rest) {
					if counts[events[i]], err = strconv.ParseFloat(n, 64); err != nil {
						t.Fatalf("%s: %v", file, err)
					}
				}
			}
		}
		if len(counts) == 0 {
			t.Fatalf("%s: has no totals", file)
		}
		totals[strings.TrimSuffix(filepath.Base(file), ".out")] = counts
	}
	return totals
}

// checkCallgrind compares what callgrind counts of new builds, as ratios to the one before
// the change, with what is kept.
func checkCallgrind(t *testing.T, folder, dir string) {
	t.Helper()
	got, want := callgrindTotals(t, folder), callgrindTotals(t, dir)
	builds := slices.Sorted(maps.Keys(want))
	if diff := cmp.Diff(builds, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatalf("callgrind: %s", diff)
	}
	reference := "same" // of more than two builds
	if _, ok := want[string(record.Before)]; ok {
		reference = string(record.Before)
	}
	for _, build := range builds {
		for _, event := range []string{"Ir", "Bcm"} { // instructions, mispredictions
			ratio := func(totals map[string]map[string]float64) float64 {
				return totals[build][event] / totals[reference][event]
			}
			if _, known := want[build][event]; !known {
				continue
			}
			if g, w := ratio(got), ratio(want); !(math.Abs(g-w) < 0.02*w) {
				t.Errorf("callgrind: %s of %s are %.3f of those of %s, want %.3f", event, build, g, reference, w)
			} else {
				t.Logf("callgrind: %s of %s are %.3f of those of %s, expected %.3f", event, build, g, reference, w)
			}
		}
	}
}

// caseFiles lists the files of a case study, with slashes, but no files of cases inside
// of it.
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
