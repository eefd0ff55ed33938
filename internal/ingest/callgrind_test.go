package ingest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"profdiff/internal/callgrind"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

const callgrindFile = `# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 7
cmd: ./program 5
part: 1

desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: ` + `
desc: Timerange: Basic block 0 - 1
positions: instr line
event: sysTime : sysTime (elapsed ms)
events: Ir Bc sysTime
summary: 123 5 2

ob=(1) /bin/program
fl=(1) program.c
fn=(1) fibonacci
0x10 5 10 2
cfn=(2) fibonacci'2
calls=3 0x10 5
* * 100 3

fn=(2)
0x10 5 100 3
fi=(2) inlined.h
+4 9 1 0 2

ob=(2) ???
fl=(3) ???
fn=(3) 0x0000000000001040
0x1040 0 5

ob=(3) /lib/libfoo.so
fl=(3)
fn=(4) 0x0000000000002080
0x2080 0 6
fn=(5) ???
0x3000 0 1

totals: 123 5 2
`

func TestReadCallgrind(t *testing.T) {
	r := ingesttest.Read(t, readCallgrind, []byte(callgrindFile), &reading.Options{})
	var events []string
	for _, e := range r.Events {
		events = append(events, fmt.Sprintf("%s %s %d samples=%d sq=%v", e.Name, e.Unit, e.Weight, e.Samples, e.WeightSq))
	}
	wantEvents := []string{"Ir count 123 samples=0 sq=0", "Bc count 5 samples=0 sq=0", "sysTime nanoseconds 2000000 samples=0 sq=0"}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	want := map[string]run.FoldedSum{
		"fibonacci":   {Weight: 111},
		"[unknown]":   {Weight: 5},
		"[libfoo.so]": {Weight: 7},
	}
	if diff := cmp.Diff(want, ingesttest.Sums(t, r, "Ir")); diff != "" {
		t.Errorf("costs differ (-want +got):\n%s", diff)
	}
	files := make(map[string]int64)
	at, _ := r.EventIndex("Ir")
	for _, row := range r.Group(run.ByFile) {
		files[row.Name] = row.Self[at].Weight
	}
	if diff := cmp.Diff(map[string]int64{"program.c": 110, "inlined.h": 1, "[unknown]": 12}, files); diff != "" {
		t.Errorf("costs by file differ (-want +got):\n%s", diff)
	}
	rec := run.Recording{
		Format: "callgrind", Tool: "callgrind (valgrind 3.19.0)", CommandLine: "./program 5",
		CPU: "simulated by valgrind; counts are exact; totals are self costs: there are no stacks; I1 32768 B, 64 B, 8-way associative",
	}
	if diff := cmp.Diff(rec, r.Recording); diff != "" {
		t.Errorf("recording differs (-want +got):\n%s", diff)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("unexpected warnings %q", r.Warnings)
	}
	if a := &r.Accounting; a.In != 0 || a.Out != 0 {
		t.Errorf("counts are no samples, but there are: %v", a)
	}
	for i := range r.Samples {
		if s := &r.Samples[i]; r.Stacks.Parent(s.Stack) != 0 {
			t.Errorf("sample %d has a stack of more than one frame", i)
		}
	}
	for i, f := range r.Functions {
		if want := map[string]int64{"program.c": 3}[f.File]; r.Calls[uint32(i)] != want {
			t.Errorf("%s of %s was called %d times, want %d", f.Name, f.File, r.Calls[uint32(i)], want)
		}
	}
	l := r.Locations[0]
	if m := r.Mappings[l.Mapping]; l.Address != 0x10 || m.File != "/bin/program" || !m.HasFunctions || !m.HasLineNumbers || m.Kind != run.NativeMapping {
		t.Errorf("first place is %#x in %+v", l.Address, m)
	}
}

func TestReadCallgrindOptions(t *testing.T) {
	r := ingesttest.Read(t, readCallgrind, []byte(callgrindFile), &reading.Options{UnknownOffset: true, PID: true})
	want := map[string]run.FoldedSum{
		"fibonacci": {Weight: 111}, "[unknown]": {Weight: 5}, "libfoo.so[+2080]": {Weight: 6}, "libfoo.so[+3000]": {Weight: 1},
	}
	if diff := cmp.Diff(want, ingesttest.Sums(t, r, "Ir")); diff != "" {
		t.Errorf("costs differ (-want +got):\n%s", diff)
	}
	if pid := r.Labels[r.Samples[0].Labels].PID; pid != 7 {
		t.Errorf("PID is %d", pid)
	}
}

func TestReadCallgrindParts(t *testing.T) {
	const file = "version: 1\ncreator: callgrind-3.19.0\ncmd: p\npart: 1\nthread: 1\nevents: Ir\nfl=f\nfn=g\n1 5\ntotals: 5\n" +
		"part: 1\nthread: 2\nevents: Dr Ir\nfl=f\nfn=g\n1 2 6\ntotals: 2 6\n"
	r := ingesttest.Read(t, readCallgrind, []byte(file), &reading.Options{})
	threads := make(map[string][]int64)
	for _, row := range r.Group(run.ByEachThread) {
		for _, s := range row.Self {
			threads[row.Name] = append(threads[row.Name], s.Weight)
		}
	}
	if diff := cmp.Diff(map[string][]int64{"thread 1": {5, 0}, "thread 2": {6, 2}}, threads); diff != "" {
		t.Errorf("costs of threads differ (-want +got):\n%s", diff)
	}
}

func TestReadCallgrindErrors(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		opt            reading.Options
		warn           string
	}{
		{name: "cut off", in: callgrindFile[:strings.Index(callgrindFile, "totals")], want: "line 40: ends without the sum of costs, which callgrind writes last"},
		{
			name: "cut off, allowed", in: callgrindFile[:strings.Index(callgrindFile, "totals")], opt: reading.Options{AllowTruncated: true},
			warn: "line 40: ends without the sum of costs, which callgrind writes last",
		},
		{name: "cut off cachegrind", in: "cmd: p\nevents: Ir\nfn=g\n1 1\n", want: "line 4: ends without the sum of costs, which cachegrind writes last"},
		{name: "cg_diff", in: "desc: Files compared:   a; b\ncmd: p; p\nevents: Ir\nfl=f\nfn=g\n0 1\nsummary: 1\n", want: "is a difference that cg_diff made"},
		{name: "negative", in: "cmd: p\nevents: Ir\nfl=f\nfn=g\n0 -1\nsummary: -1\n", want: "line 5: -1 Ir is negative: a difference is no recording"},
		{name: "time", in: "event: sysTime : sysTime (elapsed ms)\nevents: sysTime\nfn=g\n0 9223372036854775807\n", want: "line 4: 9223372036854775807 sysTime exceeds 2^63 nanoseconds"},
		{name: "line", in: "events: Ir\nfn=g\nx\n", want: `line 3: "x" is no line of the format`},
		{name: "sums", in: strings.Replace(callgrindFile, "totals: 123", "totals: 124", 1), warn: "totals of Ir are 124, but the lines above sum to 123"},
		{name: "of another program", in: "creator: xdebug\nevents: Time\nfn=g\n1 1\n", warn: "is not of callgrind or cachegrind"},
		{name: "nothing counted", in: "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\ntotals: 0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readBytes("test", []byte(tt.in), &tt.opt)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got the error %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ingesttest.CheckRun(t, r)
			if warnings := strings.Join(r.Warnings, "\n"); !strings.Contains(warnings, tt.warn) {
				t.Errorf("warnings are %q, want %q", warnings, tt.warn)
			}
		})
	}
}

func TestSniffCallgrind(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want string
	}{
		{callgrindFile, Callgrind},
		{"# callgrind format\n", Callgrind},
		{"\ufeffversion: 1\r\nevents: Ir\r\n", Callgrind},
		{"desc: I1 cache: 1 B\ncmd: p\nevents: Ir\nfl=f\n", Callgrind},
		{"positions: line\nevents: cpu(ms)\n", Callgrind},
		{"events: Ir\nfn=main 5\n", Callgrind},
		{"cmd: a 5\n", ""},
		{"main;f 5\n", Folded},
		{"Cmdline: /bin/simpleperf record\nArch: arm64\n", ""},
	} {
		if got := detected([]byte(tt.in)); got != tt.want {
			t.Errorf("%q is taken for %v, want %v", tt.in, got, tt.want)
		}
	}
}

// TestCallgrindCases compares the recordings of the case studies with their totals, and
// what go tool pprof prints of them, converted, with their rows.
func TestCallgrindCases(t *testing.T) {
	paths, err := filepath.Glob("../../profiles/*/callgrind/*.out")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(path)))+"/"+filepath.Base(path), func(t *testing.T) {
			data := ingesttest.ReadFile(t, path)
			file, err := callgrind.Read(bytes.NewReader(data), callgrind.Visitor{})
			if err != nil {
				t.Fatal(err)
			}
			r := ingesttest.Read(t, readCallgrind, data, &reading.Options{})
			part := file.Parts[0]
			for i, name := range part.Events {
				if at, ok := r.EventIndex(name); !ok || r.Events[at].Weight != part.Totals[i] {
					t.Errorf("%s is %d, the file says %d", name, r.Events[at].Weight, part.Totals[i])
				}
			}
			checkPprof(t, r)
		})
	}
}

// checkPprof compares the costs of Ir by function with those that go tool pprof prints.
func checkPprof(t *testing.T, r *run.Run) {
	t.Helper()
	var encoded bytes.Buffer
	if err := r.WriteProfile(&encoded, run.ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(encoded.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "out.pb.gz")
	if err := os.WriteFile(path, encoded.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100000", "-sample_index=Ir", "-unit=count", path)
	cmd.Env = append(os.Environ(), "PPROF_BINARY_PATH="+t.TempDir(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+) +\S+% +\S+% +\d+ +\S+%  (.*)$`).FindAllSubmatch(out, -1) {
		v, err := strconv.ParseInt(string(m[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got[string(m[2])] = v
	}
	want := make(map[string]int64)
	for name, s := range ingesttest.Sums(t, r, "Ir") {
		want[name] = s.Weight
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("go tool pprof prints other costs (-want +got):\n%s", diff)
	}
}

func FuzzReadCallgrind(f *testing.F) {
	f.Add([]byte(callgrindFile))
	f.Add([]byte("desc: I1 cache: 1 B\ncmd: p\nevents: Ir Dr\nfl=f\nfn=g\n1 2 3\nsummary: 2 3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []reading.Options{{}, {AllowTruncated: true, UnknownOffset: true, PID: true}} {
			r, err := readCallgrind(ingesttest.Source(t, data), &opt)
			if (err == nil) != (r != nil) {
				t.Fatalf("got run %v and error %v", r, err)
			}
			if err == nil {
				ingesttest.CheckRun(t, r)
			}
		}
	})
}

func BenchmarkReadCallgrind(b *testing.B) {
	var file bytes.Buffer
	file.WriteString("version: 1\nevents: Ir Bc\npositions: instr line\n")
	for i := 0; file.Len() < 8<<20; i++ {
		fmt.Fprintf(&file, "fl=(%d) file_%d.c\nfn=(%d) function_%d\n%#x %d 1\n", i/20, i/20, i, i, 0x1000+128*i, i%900)
		for j := range 30 {
			fmt.Fprintf(&file, "+4 * %d %d\n", i*j+1, j)
		}
	}
	data := file.Bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readBytes("benchmark", []byte(data), &reading.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
