package traces

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/run"
)

// v8Writer is a thread of a process of Chrome: it describes its track, and its events name none.
func v8Writer(tr *perfettotest.Trace, id uint32, pid, tid int, name string) *perfettotest.Sequence {
	s := tr.Sequence(id)
	s.Snapshot(perfetto.Monotonic, perfettotest.Clock{ID: perfetto.Monotonic, Time: 1})
	s.ThreadTrack(uint64(1000+tid), 0, pid, tid, name)
	return s
}

// v8Write adds a part of a profile.
func v8Write(s *perfettotest.Sequence, at uint64, name string, id uint64, json string) {
	data := message().Uint(1, s.String(perfetto.DebugAnnotationNames, "data")).String(9, json)
	other := message().String(10, "other").String(9, `{"cpuProfile":{"samples":[9,9,9]},"timeDeltas":[1,1,1]}`)
	s.Event(at, message().Uint(10, s.String(perfetto.EventNames, name)).Uint(11, 0).Message(4, other).Message(4, data).
		Message(6, message().Uint(2, phaseSample).Uint(6, id)))
}

const v8Nodes = `{"id":1,"callFrame":{"functionName":"(root)"}},
	{"id":2,"parent":1,"callFrame":{"functionName":"(idle)"}},
	{"id":3,"parent":1,"callFrame":{"functionName":"(program)"}},
	{"id":4,"parent":1,"callFrame":{"functionName":"","url":"https://x/a.js","lineNumber":0,"columnNumber":0}},
	{"id":5,"parent":4,"callFrame":{"functionName":"fib","url":"https://x/a.js","lineNumber":4,"columnNumber":9}},
	{"id":6,"parent":5,"callFrame":{"functionName":"fib","url":"https://x/a.js","lineNumber":4,"columnNumber":9}},
	{"id":7,"parent":5,"callFrame":{"functionName":"(garbage collector)"}},
	{"id":8,"parent":4,"callFrame":{"functionName":"sort"}}`

// TestV8 checks that parts of profiles are joined by process and id whoever wrote them, that times which go back are
// sorted, and that states of V8 are no functions.
func TestV8(t *testing.T) {
	var tr perfettotest.Trace
	collector := v8Writer(&tr, 2, 10, 12, "v8:ProfEvntProc")
	main := v8Writer(&tr, 1, 10, 11, "CrRendererMain")
	other := v8Writer(&tr, 3, 20, 21, "CrRendererMain")
	tr.Sequence(4).Processes(1, perfettotest.Process{PID: 10, Name: "renderer"}, perfettotest.Process{PID: 20, Name: "another"})
	// The parts stand before the profile starts, in the file.
	v8Write(collector, 3_000_000, "ProfileChunk", 1, `{"cpuProfile":{"nodes":[`+v8Nodes+`],"samples":[3,5,6,2]},"timeDeltas":[100,10,20,5],"lines":[0,6,7,0]}`)
	v8Write(main, 1_000_000, "Profile", 1, `{"startTime":1000}`)
	v8Write(other, 1_000_000, "Profile", 1, `{"startTime":1000}`)
	v8Write(other, 2_000_000, "ProfileChunk", 1, `{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},
		{"id":2,"parent":1,"callFrame":{"functionName":"alone","url":"b.js"}}],"samples":[2,2]},"timeDeltas":[50,50],"endTime":1130}`)
	// 135, then 5 earlier, then on; the one that is not there, and the one without a time.
	v8Write(collector, 4_000_000, "ProfileChunk", 1, `{"cpuProfile":{"samples":[8,7,7,99,5]},"timeDeltas":[-5,15,30,1]}`)
	v8Write(collector, 5_000_000, "ProfileChunk", 1, `{"cpuProfile":`)
	r := readTrace(t, &tr, &reading.Options{})
	// Times: program 100, fib 110, fib;fib 130, sort 130, idle 135, collector 145 and 175, for which the median stands.
	check(t, "samples", samplesOf(r, v8Event), `another/CrRendererMain: alone 2 80000
renderer/CrRendererMain: (anonymous);fib 1 20000
renderer/CrRendererMain: (anonymous);fib;[garbage collector] 2 40000
renderer/CrRendererMain: (anonymous);fib;fib 1 0
renderer/CrRendererMain: (anonymous);sort 1 5000
renderer/CrRendererMain: [program] 1 10000
`)
	check(t, "accounting", account(r), "samples: 11 in = 8 out + 0 filtered + 3 dropped (V8 was idle: 1, of no function: 1, without a time: 1); 0 lost; 18.8% of frames unknown")
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "1 parts of profiles of V8 are damaged") }) {
		t.Errorf("warnings are %q", r.Warnings)
	}
	lines := make(map[int64]bool)
	for _, l := range r.Locations {
		f := r.Functions[l.Lines[0].Function]
		if f.Name == "fib" {
			lines[l.Lines[0].Line] = true
			if f.File != "https://x/a.js" || f.StartLine != 5 {
				t.Errorf("fib is %+v", f)
			}
		}
	}
	if !lines[6] || !lines[7] {
		t.Errorf("lines of fib are %v, want 6 and 7", lines)
	}
}

// TestV8Nodes checks trees that are none: parents in a circle, a chain without end, and children
// instead of parents, as the protocol of the developer tools has them.
func TestV8Nodes(t *testing.T) {
	read := func(json string) string {
		var tr perfettotest.Trace
		s := v8Writer(&tr, 1, 10, 11, "main")
		v8Write(s, 1_000_000, "ProfileChunk", 1, json)
		return samplesOf(readTrace(t, &tr, nil), v8Event)
	}
	circle := read(`{"cpuProfile":{"nodes":[{"id":1,"parent":2,"callFrame":{"functionName":"a"}},{"id":2,"parent":1,"callFrame":{"functionName":"b"}}],
		"samples":[1,2]},"timeDeltas":[1,1]}`)
	if !strings.Contains(circle, "[cut]") || strings.Count(circle, ";") > 3*maxDepth {
		t.Errorf("a circle is %d frames: %.100s", strings.Count(circle, ";"), circle)
	}
	check(t, "children", read(`{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"callFrame":{"functionName":"a"},"children":[3]},
		{"id":3,"callFrame":{"functionName":"b"}}],"samples":[3]},"timeDeltas":[1],"endTime":3}`), "/main: a;b 1 2000\n")
}

// FuzzV8 checks that whatever stands for the JSON of V8, samples are accounted for.
func FuzzV8(f *testing.F) {
	f.Add(`{"cpuProfile":{"nodes":[` + v8Nodes + `],"samples":[3,5,6,2]},"timeDeltas":[100,10,-20,5],"lines":[0,6,7,0],"endTime":500}`)
	f.Add(`{"startTime":1e300,"endTime":-1e300,"cpuProfile":{"nodes":[{"id":-1,"parent":-1}],"samples":[-1,1e18]},"timeDeltas":[1e300,-1e300]}`)
	f.Fuzz(func(t *testing.T, json string) {
		var tr perfettotest.Trace
		s := v8Writer(&tr, 1, 10, 11, "main")
		v8Write(s, 1_000_000, "Profile", 1, json)
		v8Write(s, 2_000_000, "ProfileChunk", 1, json)
		readTrace(t, &tr, &reading.Options{Timeline: true})
	})
}

func readV8(t testing.TB, text string) (*run.Run, error) {
	t.Helper()
	src, err := input.New("test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := ReadV8Profile(src, new(reading.Options))
	if err == nil && !r.Accounting.Balanced() {
		t.Errorf("not balanced: %v", &r.Accounting)
	}
	return r, err
}

// TestV8Profile reads profiles that stand in files of their own.
func TestV8Profile(t *testing.T) {
	text := `{"nodes":[` + v8Nodes + `],"startTime":1000,"endTime":1200,"samples":[3,5,2,6],"timeDeltas":[100,10,20,5],"other":{"x":[1]}}`
	if !RecogniseV8Profile([]byte(text)).Is {
		t.Error("is not recognised")
	}
	r, err := readV8(t, text)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "samples", samplesOf(r, v8Event), "/: (anonymous);fib 1 20000\n/: (anonymous);fib;fib 1 65000\n/: [program] 1 10000\n")
	for text, want := range map[string]string{
		`{"nodes":[]}`: "has no samples", `{"nodes":7}`: "nodes are no list", `{"nodes":[{"id":1}`: "unexpected EOF", `[]`: "is no object", `{"samples":"x"}`: "cannot unmarshal",
	} {
		if _, err := readV8(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q", text, err, want)
		}
	}
}

// TestNodeProfile has the Node that is installed write a profile, and counts its samples by function.
func TestNodeProfile(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: no profile can be recorded")
	}
	dir := t.TempDir()
	cmd := exec.Command(node, "--cpu-prof", "--cpu-prof-dir="+dir, "--cpu-prof-name=p", "-e", "const end = Date.now() + 100; while (Date.now() < end) JSON.parse('[1]')")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("node does not run here: %v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "p"))
	if err != nil {
		t.Skipf("node wrote no profile: %v", err)
	}
	var profile struct {
		Nodes []struct {
			ID        int
			CallFrame struct{ FunctionName, URL string }
		}
		Samples []int
	}
	if err := json.Unmarshal(data, &profile); err != nil {
		t.Fatal(err)
	}
	names, want, got := make(map[int]string), make(map[string]int64), make(map[string]int64)
	for _, n := range profile.Nodes {
		names[n.ID] = cmp.Or(n.CallFrame.FunctionName, anonymous)
	}
	for _, id := range profile.Samples {
		want[names[id]]++
	}
	r, err := readV8(t, string(data))
	if err != nil {
		t.Fatal(err)
	}
	if idle := r.Accounting.Dropped["V8 was idle"]; idle > 0 {
		got["(idle)"] = idle
	}
	for _, s := range r.Samples {
		f := &r.Functions[r.Locations[r.Stacks.Location(s.Stack)].Lines[0].Function]
		name := f.Plain()
		if f.Unknown {
			name = "(" + strings.Trim(name, "[]") + ")"
		}
		got[name] += s.Count
	}
	if !maps.Equal(want, got) {
		t.Errorf("samples by function: got %v, want %v", got, want)
	}
}

// FuzzV8Profile checks that any JSON is read or refused.
func FuzzV8Profile(f *testing.F) {
	f.Add(`{"nodes":[` + v8Nodes + `],"startTime":1000,"endTime":1200,"samples":[3,5,2,6],"timeDeltas":[100,10,-20,5]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := readV8(t, text); err == nil && r == nil {
			t.Error("neither a run nor an error")
		}
	})
}
