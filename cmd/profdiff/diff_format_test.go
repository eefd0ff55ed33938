package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"profdiff/internal/report/diff"
)

// diffDocument compares with a format of JSON.
func diffDocument(t *testing.T, args ...string) (d diff.Document) {
	t.Helper()
	out, _ := profdiff(t, append([]string{"diff", "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDiffFormatsAgree checks that folded stacks and the pprof profile of a comparison
// add up to the totals and functions that it prints, and that pprof opens the profile.
func TestDiffFormatsAgree(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // pprof looks for settings
	const heap = "../../profiles/message-heap"
	symbols := []string{"--symfs", heap + "/symbols", "--kallsyms", heap + "/symbols/kallsyms"}
	for _, test := range []struct {
		name string
		args []string
	}{
		{"per operation", append(symbols, heap, "--ops", "12000000,10000000")},
		{"reference", append(symbols, heap, "--normalize", "reference")},
		{"shares", append(symbols, heap, "--normalize", "total")},
		{"as it is", append(symbols, heap, "--normalize", "none")},
		{"two runs", append(symbols, heap+"/before/01.data", heap+"/after/02.data", "--normalize", "none")},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "diff.pb.gz")
			profdiff(t, append([]string{"diff", "-o", out}, test.args...)...)
			checkDiffProfile(t, diffDocument(t, test.args...), out)
			text, _ := profdiff(t, append([]string{"diff", "--format", "folded"}, test.args...)...)
			checkDiffFolded(t, diffDocument(t, test.args...), text)
		})
	}
}

// TestDiffFormatsOfRecordings compares recordings of other recorders, some with several
// events.
func TestDiffFormatsOfRecordings(t *testing.T) {
	dir := sharedPerfdata(t)
	t.Setenv("HOME", t.TempDir())
	for _, pair := range [][2]string{
		{"perf_with_tracepoint_event.data", "perf_with_trace_offcpu.data"},
		{"perf_with_kernel_symbols_available_false.data", "perf_with_kernel_symbols_available_true.data"},
		{"perf_g_fp.data", "generated_by_linux_perf.data"},
	} {
		for _, mode := range []string{"none", "total"} {
			args := []string{filepath.Join(dir, "simpleperf", pair[0]), filepath.Join(dir, "simpleperf", pair[1]), "--normalize", mode}
			out := filepath.Join(t.TempDir(), "diff.pb.gz")
			profdiff(t, append([]string{"diff", "-o", out}, args...)...)
			d := diffDocument(t, args...)
			checkDiffProfile(t, d, out)
			if len(d.Events) == 1 {
				text, _ := profdiff(t, append([]string{"diff", "--format", "folded"}, args...)...)
				checkDiffFolded(t, d, text)
			}
			if text, _ := profdiff(t, append([]string{"diff", "--format", "markdown"}, args...)...); strings.Count(text, "\n") > 60 {
				t.Errorf("%s: summary of %d lines", pair[0], strings.Count(text, "\n"))
			}
		}
	}
}

// scaledTotals are the totals of an event on the scale of base's mean run, and what costs
// of the document are multiplied by to have that scale.
func scaledTotals(d diff.Document, i int) (scale, base, head float64) {
	e := &d.Events[i]
	if e.Normalization.Mode == "total" {
		return e.Raw.Base, e.Raw.Base, e.Raw.Base
	}
	scale = e.Raw.Base / e.Base
	return scale, e.Base * scale, e.Head * scale
}

func checkDiffProfile(t *testing.T, d diff.Document, file string) {
	t.Helper()
	p := readProfile(t, file)
	if len(p.SampleType) != len(d.Events) {
		t.Fatalf("%d sample types, %d events", len(p.SampleType), len(d.Events))
	}
	for i, e := range d.Events {
		if p.SampleType[i].Type != e.Name || p.SampleType[i].Unit != e.Unit {
			t.Errorf("sample type %v, want %s in %s", p.SampleType[i], e.Name, e.Unit)
		}
		scale, base, head := scaledTotals(d, i)
		var sums [2]int64 // of base, of head
		flat := make(map[string]float64)
		stacks := make(map[string]float64)
		for _, s := range p.Sample {
			side := 1
			if s.DiffBaseSample() {
				side = 0
			}
			if v := s.Value[i]; v != 0 && (v < 0) != (side == 0) {
				t.Fatalf("value %d of side %d", v, side)
			}
			sums[side] += s.Value[i]
			leaf := s.Location[0].Line[0].Function.Name
			flat[leaf] += float64(s.Value[i])
			stacks[leaf]++
		}
		if sums[0] != -int64(math.Round(base)) || sums[1] != int64(math.Round(head)) {
			t.Errorf("%s: sums are %v, want %v and %v rounded", e.Name, sums, -base, head)
		}
		want := make(map[string]float64)
		for _, f := range d.Functions {
			if f.Event == e.Name {
				want[f.Name] += f.Self.Delta * scale
			}
		}
		for name, delta := range want {
			if math.Abs(flat[name]-delta) > stacks[name]+1e-6*math.Abs(delta) {
				t.Errorf("%s: %s has %v, want %v", e.Name, name, flat[name], delta)
			}
		}
	}
	checkDiffViews(t, p, d, file)
}

// checkDiffViews opens the profile with pprof: percentages are of base, and no frame
// vanishes.
func checkDiffViews(t *testing.T, p *profile.Profile, d diff.Document, file string) {
	t.Helper()
	get, errs := servePprof(t, file)
	_, base, _ := scaledTotals(d, 0)
	g := pprofFlameGraph(t, get("/flamegraph", "si", p.SampleType[0].Type))
	if g.Total != int64(math.Round(base)) {
		t.Errorf("the flame graph's total is %d, not base's %v", g.Total, base)
	}
	got, want := make(map[string]int64), make(map[string]int64)
	for _, s := range g.Stacks {
		var stack []string
		for _, source := range s.Sources {
			stack = append(stack, g.Sources[source].FullName)
		}
		got[strings.Join(stack, ";")] += s.Value
	}
	for _, s := range p.Sample {
		stack := []string{"root"}
		for i := len(s.Location) - 1; i >= 0; i-- {
			stack = append(stack, s.Location[i].Line[0].Function.Name)
		}
		want[strings.Join(stack, ";")] += s.Value[0]
	}
	for stack, v := range want {
		if got[stack] != v {
			t.Errorf("flame graph: %d, not %d, for %s", got[stack], v, stack)
		}
	}
	for _, page := range []string{"/top", "/peek"} {
		get(page, "f", ".")
	}
	for _, e := range *errs {
		t.Errorf("pprof says: %s", e)
	}
}

func checkDiffFolded(t *testing.T, d diff.Document, text string) {
	t.Helper()
	scale, base, head := scaledTotals(d, 0)
	var sums [2]float64
	self := make(map[string][2]float64)
	count, previous := make(map[string]float64), ""
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		n := len(fields)
		stack := strings.Join(fields[:n-2], " ")
		if stack <= previous {
			t.Fatalf("%q is not after %q", stack, previous)
		}
		previous = stack
		leaf := stack[strings.LastIndex(stack, ";")+1:]
		values := self[leaf]
		for side, field := range fields[n-2:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			if d.Events[0].Normalization.Mode == "none" && v != math.Trunc(v) {
				t.Errorf("%v is no whole number", v)
			}
			values[side] += v
			sums[side] += v
		}
		self[leaf] = values
		count[leaf]++
	}
	lines := float64(strings.Count(text, "\n"))
	if math.Abs(sums[0]-base) > 0.5+0.0005*lines || math.Abs(sums[1]-head) > 0.5+0.0005*lines {
		t.Errorf("sums are %v, want %v and %v", sums, base, head)
	}
	want := make(map[string][2]float64)
	for _, f := range d.Functions {
		want[f.Name] = [2]float64{want[f.Name][0] + f.Self.Base*scale, want[f.Name][1] + f.Self.Head*scale}
	}
	for name, w := range want {
		got := self[name]
		for side := range w {
			if math.Abs(got[side]-w[side]) > count[name]+1e-6*w[side] {
				t.Errorf("%s has %v, want %v", name, got, w)
			}
		}
	}
}
