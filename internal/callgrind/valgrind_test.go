package callgrind

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tool runs a program of the PATH and returns its standard output.
func tool(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = "/" // callgrind_annotate cuts its directory off names
	// Functions depend a little on the size of the environment.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// compile compiles the program that is recorded.
func compile(t testing.TB) string {
	t.Helper()
	source, err := filepath.Abs("testdata/program.c")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	tool(t, "gcc", "-g", "-O1", "-static", "-o", program, source)
	return program
}

// record runs a program below a tool of Valgrind and returns the file that it wrote.
func record(t testing.TB, valgrindTool, program string, options ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), valgrindTool+".out")
	args := append([]string{"-q", "--tool=" + valgrindTool, "--" + valgrindTool + "-out-file=" + out}, options...)
	tool(t, "valgrind", append(args, program)...)
	return out
}

// costs are costs by event.
type costs []int64

func (c *costs) add(v []int64) {
	if *c == nil {
		*c = make(costs, len(v))
	}
	for i := range v {
		(*c)[i] += v[i]
	}
}

// A summary is what of a file the tools annotate.
type summary struct {
	file *File
	// self and inclusive are by "file:function", as callgrind_annotate names rows.
	self, inclusive map[string]costs
}

func summarize(t testing.TB, path string) *summary {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	self, inclusive, called := make(map[string]costs), make(map[string]costs), make(map[string]costs)
	add := func(m map[string]costs, key string, v []int64) {
		sum := m[key]
		sum.add(v)
		m[key] = sum
	}
	key := func(p *Place) string { return p.File + ":" + p.Function.Name }
	file, err := Read(f, Visitor{
		Cost: func(c *Cost) error {
			add(self, key(&c.Place), c.Costs)
			add(inclusive, key(&c.Place), c.Costs)
			return nil
		},
		Call: func(c *Call) error {
			add(inclusive, key(&c.Caller), c.Costs)
			add(called, key(&c.Callee), c.Costs)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(inclusive, called) // which also has what callers cost that are not recorded
	return &summary{file, self, inclusive}
}

// annotation is what callgrind_annotate or cg_annotate printed.
type annotation struct {
	events []string
	totals costs
	rows   map[string]costs
}

// annotationRow splits a row into costs and name. Shares are not printed.
var annotationRow = regexp.MustCompile(`^((?: *(?:[0-9,]+|\.)(?: |$))+) *(.*)$`)

func readAnnotation(t testing.TB, text []byte) *annotation {
	t.Helper()
	a := &annotation{rows: make(map[string]costs)}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if shown, ok := strings.CutPrefix(line, "Events shown:"); ok {
			a.events = strings.Fields(shown)
		}
		m := annotationRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var row costs
		for field := range strings.FieldsSeq(m[1]) {
			v, err := strconv.ParseInt(strings.ReplaceAll(strings.Replace(field, ".", "0", 1), ",", ""), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		if strings.HasPrefix(m[2], "PROGRAM TOTALS") {
			a.totals = row
			continue
		}
		name, _, _ := strings.Cut(m[2], " [/")
		a.rows[strings.TrimSuffix(name, " [???]")] = row
	}
	if a.totals == nil || len(a.rows) == 0 {
		t.Fatalf("no totals or functions:\n%s", text)
	}
	return a
}

// check compares costs with those of an annotation, which leaves out rows without the
// first event.
func (a *annotation) check(t testing.TB, file *File, got map[string]costs) {
	t.Helper()
	part := file.Parts[0]
	if diff := cmp.Diff(a.events, part.Events); diff != "" {
		t.Errorf("events differ (-tool +profdiff):\n%s", diff)
	}
	want := make(map[string]costs)
	for name := range got {
		if _, ok := a.rows[name]; ok || got[name][0] > 0 {
			want[name] = got[name]
		}
	}
	if diff := cmp.Diff(a.rows, want); diff != "" {
		t.Errorf("costs of functions differ (-tool +profdiff):\n%s", diff)
	}
}

// TestCallgrindAnnotate compares recordings with all combinations of the options that
// change the format with what callgrind_annotate makes of them, and those of one
// content with each other.
func TestCallgrindAnnotate(t *testing.T) {
	program := compile(t)
	options := []string{"branch-sim", "collect-jumps", "dump-instr", "dump-line", "compress-strings", "compress-pos"}
	const compression = 3 << 4 // the last two options do not change the content
	for bits := range 1 << 4 {
		var args []string
		for i, option := range options[:4] {
			args = append(args, "--"+option+"="+map[bool]string{false: "no", true: "yes"}[bits>>i&1 != 0])
		}
		if testing.Short() && bits != 1<<4-1 {
			continue
		}
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			t.Parallel()
			var first string
			for bits := 0; bits <= compression; bits += 1 << 4 {
				args := slices.Clone(args)
				for i, option := range options[4:] {
					args = append(args, "--"+option+"="+map[bool]string{false: "no", true: "yes"}[bits>>(i+4)&1 != 0])
				}
				path := record(t, "callgrind", program, args...)
				if bits == compression {
					checkAnnotate(t, path)
				}
				text := anyPID.ReplaceAllString(dump(t, readFile(t, path)), "")
				if first == "" {
					first = text
				} else if diff := diffLines(first, text); diff != "" {
					t.Errorf("%v differs from the file without compression:\n%s", args, diff)
				}
			}
			if jumps, want := strings.Contains(first, "\njump "), bits&2 != 0; jumps != want {
				t.Errorf("has jumps: %v, want %v", jumps, want)
			}
		})
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkAnnotate compares a file with what callgrind_annotate makes of it.
func checkAnnotate(t *testing.T, path string) {
	t.Helper()
	s := summarize(t, path)
	if len(s.file.Warnings) > 0 || s.file.Truncated || s.file.Format != Callgrind {
		t.Errorf("format %v, truncated %v, warnings %q", s.file.Format, s.file.Truncated, s.file.Warnings)
	}
	flags := []string{"--threshold=100", "--show-percs=no", "--auto=no", path}
	self := readAnnotation(t, tool(t, "callgrind_annotate", flags...))
	if diff := cmp.Diff(self.totals, costs(s.file.Parts[0].Sum)); diff != "" {
		t.Errorf("totals differ (-tool +profdiff):\n%s", diff)
	}
	self.check(t, s.file, s.self)
	readAnnotation(t, tool(t, "callgrind_annotate", append([]string{"--inclusive=yes"}, flags...)...)).check(t, s.file, s.inclusive)
}

// diffLines tells which lines are in one text only.
func diffLines(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		return ""
	}
	return cmp.Diff(x, y)
}

func TestCgAnnotate(t *testing.T) {
	program := compile(t)
	for _, args := range [][]string{{"--branch-sim=no"}, {"--branch-sim=yes"}, {"--cache-sim=no"}, {"--cache-sim=no", "--branch-sim=yes"}} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			t.Parallel()
			path := record(t, "cachegrind", program, args...)
			s := summarize(t, path)
			if len(s.file.Warnings) > 0 || s.file.Truncated || s.file.Format != Cachegrind {
				t.Errorf("format %v, truncated %v, warnings %q", s.file.Format, s.file.Truncated, s.file.Warnings)
			}
			a := readAnnotation(t, tool(t, "cg_annotate", "--threshold=0", "--show-percs=no", "--auto=no", path))
			if diff := cmp.Diff(a.totals, costs(s.file.Parts[0].Sum)); diff != "" {
				t.Errorf("totals differ (-tool +profdiff):\n%s", diff)
			}
			a.check(t, s.file, s.self)

			merged := filepath.Join(t.TempDir(), "merged")
			tool(t, "cg_merge", "-o", merged, path, path)
			m := summarize(t, merged)
			want := make(map[string]costs)
			for name, c := range s.self {
				sum := slices.Clone(c)
				sum.add(c)
				want[name] = sum
			}
			if diff := cmp.Diff(want, m.self); diff != "" || m.file.Format != Cachegrind || len(m.file.Warnings) > 0 {
				t.Errorf("cg_merge of a file with itself is %v with warnings %q and differs from its double (-want +got):\n%s", m.file.Format, m.file.Warnings, diff)
			}

			difference := filepath.Join(t.TempDir(), "difference")
			if err := os.WriteFile(difference, tool(t, "cg_diff", merged, path), 0o666); err != nil {
				t.Fatal(err)
			}
			negative := make(map[string]costs)
			for name, c := range s.self {
				for _, v := range c {
					negative[name] = append(negative[name], -v)
				}
			}
			d := summarize(t, difference)
			if diff := cmp.Diff(negative, d.self); diff != "" || len(d.file.Warnings) > 0 {
				t.Errorf("cg_diff of the double and the file has warnings %q and differs from the negative (-want +got):\n%s", d.file.Warnings, diff)
			}
		})
	}
}

// TestValgrindOptions reads recordings with options that callgrind_annotate does not
// understand: dumps in one file, threads, callers and recursion levels in names, times.
func TestValgrindOptions(t *testing.T) {
	program := compile(t)
	plain := summarize(t, record(t, "callgrind", program))
	sum := func(f *File, event string) (sum int64) {
		for _, p := range f.Parts {
			if i := slices.Index(p.Events, event); i >= 0 {
				sum += p.Sum[i]
			}
		}
		return sum
	}
	whole := sum(plain.file, "Ir")
	for _, tt := range []struct {
		args  []string
		parts int
		warn  string
	}{
		{[]string{"--combine-dumps=yes", "--dump-before=walk", "--collect-jumps=yes"}, 3, ""},
		{[]string{"--combine-dumps=yes", "--dump-after=walk", "--dump-instr=yes", "--separate-threads=yes"}, 3, ""},
		{[]string{"--compress-mangled=yes", "--separate-callers=3"}, 1, ""},
		{[]string{"--mangle-names=no", "--separate-callers=2", "--separate-recs=3"}, 1, ""},
		{[]string{"--dump-bb=yes", "--dump-instr=yes"}, 1, ""},
		{[]string{"--dump-bbs=yes"}, 1, ""},
		// The summary has the system call with which the program ends, lines do not.
		{[]string{"--collect-systime=nsec"}, 1, "in the summary"},
		{[]string{"--cache-sim=yes", "--branch-sim=yes", "--collect-bus=yes"}, 1, ""},
	} {
		t.Run(strings.Join(tt.args, ""), func(t *testing.T) {
			t.Parallel()
			s := summarize(t, record(t, "callgrind", program, tt.args...))
			if len(s.file.Parts) != tt.parts || s.file.Truncated {
				t.Errorf("has %d parts, want %d; truncated %v", len(s.file.Parts), tt.parts, s.file.Truncated)
			}
			for _, w := range s.file.Warnings {
				if tt.warn == "" || !strings.Contains(w, tt.warn) {
					t.Errorf("unexpected warning %q", w)
				}
			}
			if got := sum(s.file, "Ir"); got != whole {
				t.Errorf("sum of Ir is %d, without the options %d", got, whole)
			}
			for _, part := range s.file.Parts {
				if diff := cmp.Diff(part.Totals, part.Sum); diff != "" {
					t.Errorf("part %d: costs differ from its totals (-want +got):\n%s", part.Number, diff)
				}
			}
		})
	}
	t.Run("names of callers", func(t *testing.T) {
		t.Parallel()
		compressed := summarize(t, record(t, "callgrind", program, "--compress-mangled=yes", "--separate-callers=3"))
		full := summarize(t, record(t, "callgrind", program, "--separate-callers=3"))
		if diff := cmp.Diff(full.self, compressed.self); diff != "" {
			t.Errorf("costs differ (-full +compressed):\n%s", diff)
		}
		if len(full.self) <= len(plain.self) {
			t.Errorf("has %d functions with callers, and %d without", len(full.self), len(plain.self))
		}
	})
}

// TestDeterminism shows that two recordings of one program are the same.
func TestDeterminism(t *testing.T) {
	program := compile(t)
	args := []string{"--branch-sim=yes", "--collect-jumps=yes", "--dump-instr=yes"}
	var texts []string
	for range 2 {
		text := dump(t, readFile(t, record(t, "callgrind", program, args...)))
		texts = append(texts, anyPID.ReplaceAllString(text, ""))
	}
	if diff := diffLines(texts[0], texts[1]); diff != "" {
		t.Errorf("two recordings differ:\n%s", diff)
	}
}

// TestCases reads the recordings of the case studies.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("../../profiles/*/callgrind/*.out")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(path)))+"/"+filepath.Base(path), func(t *testing.T) {
			abs, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			file := summarize(t, abs).file
			if diff := cmp.Diff(file.Parts[0].Totals, file.Parts[0].Sum); diff != "" {
				t.Errorf("costs differ from the totals (-want +got):\n%s", diff)
			}
			checkAnnotate(t, abs)
		})
	}
}

// anyPID is what differs between recordings of one program.
var anyPID = regexp.MustCompile(` pid=[0-9]+`)

// dump writes a file as text, one record a line.
func dump(t testing.TB, data []byte) string {
	t.Helper()
	text, _, err := dumpText(data)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func dumpText(data []byte) (string, *File, error) {
	var b strings.Builder
	place := func(p *Place) string {
		s := p.Function.Name
		if p.Function.Object != "" {
			s += "@" + p.Function.Object
		}
		if p.Function.File != p.File {
			s += "(" + p.Function.File + ")"
		}
		s += " " + p.File + ":" + strconv.FormatInt(p.Line, 10)
		if p.Address != 0 {
			s += fmt.Sprintf(" %#x", p.Address)
		}
		if p.Block != 0 {
			s += fmt.Sprintf(" bb=%#x", p.Block)
		}
		return s
	}
	var part *Part
	begin := func(p *Part) {
		if p != part {
			part = p
			fmt.Fprintf(&b, "part %d thread=%d pid=%d cmd=%q creator=%q desc=%v positions=%v events=%v definitions=%v\n",
				p.Number, p.Thread, p.PID, p.Command, p.Creator, p.Desc, p.Positions, p.Events, p.Definitions)
		}
	}
	file, err := Read(bytes.NewReader(data), Visitor{
		Cost: func(c *Cost) error {
			begin(c.Part)
			fmt.Fprintf(&b, "cost %s %v\n", place(&c.Place), c.Costs)
			return nil
		},
		Call: func(c *Call) error {
			begin(c.Part)
			fmt.Fprintf(&b, "call %s -> %s count=%d %v\n", place(&c.Caller), place(&c.Callee), c.Count, c.Costs)
			return nil
		},
		Jump: func(j *Jump) error {
			begin(j.Part)
			fmt.Fprintf(&b, "jump %s -> %s conditional=%v %d/%d\n", place(&j.From), place(&j.To), j.Conditional, j.Taken, j.Executed)
			return nil
		},
	})
	return b.String(), file, err
}
