package run_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	. "profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

const (
	cyclesOnly = `
cpu-cycles main app!main;app!work;libc!memcpy 100 300
cpu-cycles main app!main;app!work 50
cpu-cycles pool-2 app!main;app!work;app!work;libc!memcpy 7
`
	twoEvents = cyclesOnly + `
branch-misses main app!main;app!work;libc!memcpy 3
branch-misses main app!main;libc![libc.so] 1 1
`
)

func TestFinish(t *testing.T) {
	r := runtest.Build(t, "r", twoEvents)
	want := []Event{
		{Name: "cpu-cycles", Unit: "cpu-cycles", Samples: 4, Weight: 457, WeightSq: 100*100 + 300*300 + 50*50 + 7*7, MaxWeight: 300},
		{Name: "branch-misses", Unit: "count", Samples: 3, Weight: 5, WeightSq: 11, MaxWeight: 3},
	}
	if diff := cmp.Diff(want, r.Events); diff != "" {
		t.Error(diff)
	}
	a := r.Accounting
	if !a.Balanced() || a.Out != 7 {
		t.Errorf("accounting %+v is not balanced", a)
	}
	if a.Frames != 3+3+2+4+3+2+2 || a.UnknownFrames != 2 {
		t.Errorf("%d frames, %d unknown", a.Frames, a.UnknownFrames)
	}
	if got, want := r.Events[0].EffectiveSamples(), 457.0*457/(100*100+300*300+50*50+7*7); got != want {
		t.Errorf("effective samples %v, want %v", got, want)
	}
}

// TestStacks compares the prefix tree with a map of whole stacks.
func TestStacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder("r")
	e := b.Event(Event{Name: "cpu-clock"})
	f := b.Function(Function{Name: "f"})
	for i := range 50 {
		b.Location(0, uint64(i), Line{Function: f})
	}
	type key struct {
		stack  string
		labels uint32
	}
	want := make(map[key]int64)
	for range 20000 {
		var stack StackID
		var path []uint32
		for range rng.IntN(8) {
			l := uint32(rng.IntN(1 + rng.IntN(50)))
			path = append([]uint32{l}, path...)
			stack = b.Stack(stack, l)
		}
		labels := b.Labels(Labels{TID: int64(rng.IntN(3)), PID: -1, CPU: -1})
		w := int64(rng.IntN(1000))
		b.Add(e, stack, labels, w)
		want[key{fmt.Sprint(path), labels}] += w
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[key]int64)
	for _, s := range r.Samples {
		k := key{fmt.Sprint(r.Stacks.Append([]uint32{}, s.Stack)), s.Labels}
		if _, twice := got[k]; twice {
			t.Errorf("%v has two rows", k)
		}
		got[k] = s.Weight
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWriteProfile(t *testing.T) {
	r := runtest.Build(t, "r", twoEvents)
	r.Recording.Start = time.Unix(1700000000, 5)
	r.Recording.Duration = 3 * time.Second
	r.Recording.Tool = "perf 6.1"
	var buf bytes.Buffer
	if err := r.WriteProfile(&buf, ProfileOptions{Comments: []string{"hello"}}); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	var types []string
	for _, st := range p.SampleType {
		types = append(types, st.Type+"/"+st.Unit)
	}
	wantTypes := []string{"cpu-cycles_samples/samples", "cpu-cycles/cpu-cycles", "branch-misses_samples/samples", "branch-misses/count"}
	if diff := cmp.Diff(wantTypes, types); diff != "" {
		t.Error(diff)
	}
	if p.DefaultSampleType != "cpu-cycles" || p.TimeNanos != 1700000000e9+5 || p.DurationNanos != 3e9 {
		t.Errorf("default %q, time %d, duration %d", p.DefaultSampleType, p.TimeNanos, p.DurationNanos)
	}
	type row struct {
		Stack, Labels string
		Values        []int64
	}
	var got []row
	for _, s := range p.Sample {
		var frames []string
		for _, l := range s.Location {
			frames = append(frames, l.Line[0].Function.Name)
		}
		got = append(got, row{strings.Join(frames, ";"), fmt.Sprint(s.Label), s.Value})
	}
	main, pool := "map[process:[app] thread:[main] threadpool:[main]]", "map[process:[app] thread:[pool-2] threadpool:[pool-%d]]"
	want := []row{
		{"memcpy;work;main", main, []int64{2, 400, 1, 3}},
		{"work;main", main, []int64{1, 50, 0, 0}},
		{"memcpy;work;work;main", pool, []int64{1, 7, 0, 0}},
		{"[libc.so];main", main, []int64{0, 0, 2, 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, f := range p.Function {
		if f.SystemName != "_Z"+f.Name {
			t.Errorf("system name %q of %q", f.SystemName, f.Name)
		}
	}
	if !strings.Contains(strings.Join(p.Comments, "\n"), "accounting: samples: 7 in = 7 out") {
		t.Errorf("comments %q", p.Comments)
	}
}

func TestSampleTypeNames(t *testing.T) {
	r := runtest.Build(t, "r", "cycles:u t a!f 1\ncycles:u_samples t a!f 1")
	for _, test := range []struct {
		names SampleTypeNames
		want  string
	}{
		{AOSPNames, "cycles:u_samples/samples cycles:u/cpu-cycles cycles:u_samples_samples/samples cycles:u_samples_2/count"},
		{PerfToProfileNames, "cycles:u_sample/count cycles:u_event/count cycles:u_samples_sample/count cycles:u_samples_event/count"},
		{GoPGONames, "samples/count cpu/nanoseconds"},
	} {
		var buf bytes.Buffer
		if err := r.WriteProfile(&buf, ProfileOptions{Names: test.names}); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, st := range p.SampleType {
			got = append(got, st.Type+"/"+st.Unit)
		}
		if diff := cmp.Diff(strings.Fields(test.want), got); diff != "" {
			t.Errorf("names %d: %s", test.names, diff)
		}
	}
}

func TestFolded(t *testing.T) {
	r := runtest.Build(t, "r", `
e t a!semi;b!back\slash 5 6
e u a!semi;b!back\slash 1
e t a!alone 2`)
	r.Functions[0].Name = "semi;colon\tand tab"
	for _, test := range []struct {
		counts bool
		want   string
	}{
		{false, "alone 2\n" + `semi\;colon\tand tab;back\\slash 12` + "\n"},
		{true, "alone 1\n" + `semi\;colon\tand tab;back\\slash 3` + "\n"},
	} {
		var b strings.Builder
		if err := r.WriteFolded(&b, 0, test.counts); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, b.String()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFilter(t *testing.T) {
	re := regexp.MustCompile
	for _, test := range []struct {
		name           string
		filter         Filter
		out, filtered  int64
		cycles, misses int64 // -1: the event is gone
	}{
		{"nothing", Filter{}, 7, 0, 457, 5},
		{"thread", Filter{Thread: re("^pool")}, 1, 6, 7, 0},
		{"process", Filter{Process: re("other")}, 0, 7, 0, 0},
		{"dso is the leaf's", Filter{DSO: re("libc")}, 6, 1, 407, 5},
		{"focus is anywhere", Filter{Focus: re("^work$")}, 5, 2, 457, 3},
		{"focus by mangled name", Filter{Focus: re("^_Zwork$")}, 5, 2, 457, 3},
		{"ignore", Filter{Ignore: re("memcpy")}, 3, 4, 50, 2},
		{"event", Filter{Events: []string{"branch-misses"}}, 3, 4, -1, 5},
		{"event alias", Filter{Events: []string{"cycles"}}, 4, 3, 457, -1},
	} {
		r := runtest.Build(t, "r", twoEvents)
		if err := test.filter.Apply(r); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		weight := func(event string) int64 {
			for _, e := range r.Events {
				if e.Name == event {
					return e.Weight
				}
			}
			return -1
		}
		if a := r.Accounting; a.Out != test.out || a.Filtered != test.filtered || !a.Balanced() {
			t.Errorf("%s: %v", test.name, a.String())
		}
		if c, m := weight("cpu-cycles"), weight("branch-misses"); c != test.cycles || m != test.misses {
			t.Errorf("%s: cycles %d misses %d, want %d %d", test.name, c, m, test.cycles, test.misses)
		}
	}
	r := runtest.Build(t, "r", twoEvents)
	err := (&Filter{Events: []string{"instructions"}}).Apply(r)
	if want := "no event instructions; it has cpu-cycles, branch-misses"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestMerge(t *testing.T) {
	a, b := runtest.Build(t, "a", twoEvents), runtest.Build(t, "b", cyclesOnly)
	a.Recording.Arch, b.Recording.Arch = "x86_64", "x86_64"
	a.Recording.Host, b.Recording.Host = "one", "two"
	m, err := Merge("both", []*Run{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if m.Events[0].Weight != 2*457 || m.Events[1].Weight != 5 || !m.Accounting.Balanced() || m.Accounting.Out != 11 {
		t.Errorf("events %+v, accounting %v", m.Events, m.Accounting.String())
	}
	if len(m.Functions) != len(a.Functions) || len(m.Mappings) != len(a.Mappings) {
		t.Errorf("%d functions and %d mappings, want those of one run", len(m.Functions), len(m.Mappings))
	}
	if m.Recording.Arch != "x86_64" || m.Recording.Host != "" {
		t.Errorf("recording %+v", m.Recording)
	}
}

func TestGroup(t *testing.T) {
	r := runtest.Build(t, "r", twoEvents)
	type row struct {
		Name                  string
		Self, Total           int64
		SelfCount, TotalCount int64
	}
	for _, test := range []struct {
		by   GroupBy
		want []row
	}{
		{ByFunction, []row{{"memcpy", 407, 407, 3, 3}, {"work", 50, 457, 1, 4}, {"main", 0, 457, 0, 4}, {"[libc.so]", 0, 0, 0, 0}}},
		{ByDSO, []row{{"/lib/libc", 407, 407, 3, 3}, {"/lib/app", 50, 457, 1, 4}}},
		{ByThread, []row{{"main", 450, 450, 3, 3}, {"pool-%d", 7, 7, 1, 1}}},
		{ByEachThread, []row{{"main", 450, 450, 3, 3}, {"pool-2", 7, 7, 1, 1}}},
		{ByProcess, []row{{"app", 457, 457, 4, 4}}},
		{ByFile, []row{{"[unknown]", 457, 457, 4, 4}}},
	} {
		var got []row
		for _, g := range r.Group(test.by) {
			got = append(got, row{g.Name, g.Self[0].Weight, g.Total[0].Weight, g.Self[0].Count, g.Total[0].Count})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.by, diff)
		}
	}
	if _, err := ParseGroupBy("colour"); err == nil {
		t.Error("ParseGroupBy accepts colour")
	}
}

func TestTree(t *testing.T) {
	r := runtest.Build(t, "r", twoEvents)
	var b strings.Builder
	var walk func(n *Node, indent string)
	walk = func(n *Node, indent string) {
		fmt.Fprintf(&b, "%s%s %d/%d\n", indent, n.Name, n.Self, n.Total)
		for _, c := range n.Children {
			walk(c, indent+" ")
		}
	}
	walk(r.Tree(0), "")
	want := " 0/457\n main 0/457\n  work 50/457\n   memcpy 400/400\n   work 0/7\n    memcpy 7/7\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestRewrite(t *testing.T) {
	b := NewBuilder("r")
	e := b.Event(Event{Name: "cpu-clock"})
	f := b.Function(Function{Name: "f"})
	var stack StackID
	for i := range 4 {
		stack = b.Stack(stack, b.Location(0, uint64(i), Line{Function: f}))
	}
	b.Add(e, stack, 0, 5)
	b.Add(e, b.Stack(0, 3), 0, 1)
	calls := 0
	b.Rewrite(func(stack []uint32) []uint32 {
		calls++
		return stack[:1] // only the leaf
	})
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if calls != 2 || len(r.Samples) != 1 || r.Samples[0].Weight != 6 || r.Samples[0].Count != 2 || r.Stacks.Len() != 2 {
		t.Errorf("%d calls, samples %+v, %d stacks", calls, r.Samples, r.Stacks.Len())
	}
}

func TestOverflow(t *testing.T) {
	r := runtest.Build(t, "r", "e t a!f 4611686018427387904 4611686018427387904 4611686018427387904")
	if r.Events[0].Weight != 1<<63-1 || len(r.Warnings) == 0 {
		t.Errorf("weight %d, warnings %q", r.Events[0].Weight, r.Warnings)
	}
}

func BenchmarkWriteProfile(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	bu := NewBuilder("bench")
	e := bu.Event(Event{Name: "cpu-clock"})
	for i := range 50000 {
		f := bu.Function(Function{Name: fmt.Sprintf("function_%d", i/8)})
		bu.Location(0, uint64(i), Line{Function: f})
	}
	for range 200000 {
		var stack StackID
		for d := range 16 {
			stack = bu.Stack(stack, uint32(d*3000+rng.IntN(1+d*40)))
		}
		bu.Add(e, stack, 0, 1000000)
	}
	r, err := bu.Finish()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var n counter
		if err := r.WriteProfile(&n, ProfileOptions{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(n))
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestNamesOfEvents checks that an event has a name that breaks no line.
func TestNamesOfEvents(t *testing.T) {
	b := NewBuilder("x")
	i := b.Event(Event{Name: "cpu\n::error::x\x1b[31m", Unit: "na\tno"})
	if j := b.Event(Event{Name: "cpu\n::error::x\x1b[31m"}); j != i {
		t.Errorf("events %d and %d", i, j)
	}
	if e := b.Run().Events[i]; e.Name != "cpu\ufffd::error::x\ufffd[31m" || e.Unit != "na\ufffdno" {
		t.Errorf("%q, %q", e.Name, e.Unit)
	}
}

func TestEscapeFrame(t *testing.T) {
	for name, want := range map[string]string{
		"std::map<int, char>": "std::map<int, char>",
		"a;b\\c":              `a\;b\\c`,
		"a\tb\nc\rd":          `a\tb\nc\rd`,
		"\x1b[31m\x7f\x00µ":   `\x1b[31m\x7f\x00µ`,
		"a\u202eb\u0085\xffä": `a\xe2\x80\xaeb\xc2\x85` + "\xffä",
	} {
		if got := EscapeFrame(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
