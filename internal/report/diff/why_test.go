package diff

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/listing"
	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/source"
	"profdiff/internal/verdict"
	"profdiff/internal/wait"
)

// grown is a change that is decided.
func grown(base, head, lo, hi float64) Change {
	v := verdict.Regressed
	if head < base {
		v = verdict.Improved
	}
	ratio := head / base
	if base == 0 {
		ratio = math.Inf(1)
	}
	return Change{Base: base, Head: head, Delta: head - base, Ratio: text.Number(ratio), CI: text.Interval{Lo: lo, Hi: hi}, Verdict: v, Tested: true}
}

// TestReasons has a function of which several events, a shift, its code, its source and threads
// that wait tell something: what explains most is kept.
func TestReasons(t *testing.T) {
	d := &Document{Functions: []Function{
		{Name: "sift", DSO: "heap", Event: "cpu-cycles", Shift: -1, Self: grown(100e6, 140e6, 1.3, 1.5)},
		{Name: "compare", DSO: "heap", Event: "cpu-cycles", Shift: 0, Self: grown(50e6, 90e6, 1.7, 1.9)},
		{Name: "less", DSO: "heap", Event: "cpu-cycles", Shift: 0, Self: grown(40e6, 0, 0, 0.1)},
		{Name: "post", DSO: "heap", Event: "cpu-cycles", Shift: -1, Self: grown(50e6, 90e6, 1.7, 1.9)},
		{Name: "sift", DSO: "heap", Event: "instructions", Shift: -1, Self: grown(210e6, 196e6, 0.9, 0.97)},
		{Name: "sift", DSO: "heap", Event: "branch-misses", Shift: -1, Self: grown(6, 298506, 1e4, 1e5)},
	}}
	f := d.Functions
	d.Events = []Event{
		{Name: "cpu-cycles", Unit: "cpu-cycles", Functions: f[:4], Shifts: []Shift{{Parts: []int{1, 2}}}},
		{Name: "instructions", Unit: "instructions", Functions: f[4:5]},
		{Name: "branch-misses", Unit: "count", Functions: f[5:], HotLines: []Line{
			{Function: 0, File: "heap.c", BaseLine: 120, HeadLine: 138, Self: grown(6, 298500, 1e4, 1e5)},
			{Function: 0, File: "heap.c", BaseLine: 130, HeadLine: 140, Self: grown(0, 6, 1, 2)},
		}},
	}
	d.Events[2].Total = Change{Base: 3e6, Head: 1e6}
	d.Metrics = []Metrics{{}, {
		Name: "sift", DSO: "heap", IPCBase: 2.1, IPCHead: 1.4, MPKIBase: text.Missing, MPKIHead: text.Missing,
		Changes: []*Change{&f[0].Self, &f[4].Self, &f[5].Self},
	}}
	same := listing.Row{BaseOffset: 0, HeadOffset: 0}
	d.Listings = []listing.Listing{
		{Function: "sift", DSO: "heap", Rows: []listing.Row{same, same}},
		{Function: "compare", DSO: "heap", Rows: []listing.Row{
			same, {BaseOffset: -1, HeadOffset: 4, Inlined: []listing.Caller{{Callee: "less"}}}, {BaseOffset: 8, HeadOffset: -1},
		}},
		{Function: "post", DSO: "heap", Rows: []listing.Row{{BaseOffset: -1, HeadOffset: 4}}},                   // base has no binary
		{Function: "less", DSO: "heap", Rows: []listing.Row{same, {BaseOffset: 8, HeadOffset: -1}}, LeftOut: 7}, // the rest may differ
	}
	d.Sources = &Sources{Base: "v1", Head: "v2", Functions: []SourceFunction{{
		Name: "post", DSO: "heap", BaseFile: "heap.c", HeadFile: "heap.c",
		Rows: []source.Row{{Base: 1, Head: 1}, {Head: 2}, {Head: 3}, {Base: 2, Head: 4, Was: "x"}},
	}}}
	d.addReasons()
	d.Waits = &Waits{Comparison: &waits.Comparison{Chains: []waits.Change{{Links: []wait.Link{
		{Thread: wait.Thread{Name: "main"}, Blocked: &wait.Place{Function: "post"}}, {Thread: wait.Thread{Name: "worker"}},
	}}}}}
	d.waitReasons()
	misses := Reason{Kind: WhyMisses, Text: "+298.5 k misses at line 138", Line: 138}
	rate, code := Reason{Kind: WhyRate, Text: "IPC 2.1 → 1.4"}, Reason{Kind: WhyCode, Text: "same instructions"}
	want := [][]Reason{
		{misses, rate, code},
		{{Kind: WhyMoved, Text: "less inlined here"}, {Kind: WhyCode, Text: "1 of 2 instructions new"}},
		{{Kind: WhyMoved, Text: "its cost is in compare"}},
		{{Kind: WhyWait, Text: "waits for worker"}, {Kind: WhyLines, Text: "2 lines new", Line: 2, Sources: true}},
		{misses, rate, code},
		{rate, code},
	}
	for i := range f {
		if diff := cmp.Diff(want[i], f[i].Why); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", f[i].Name, f[i].Event, diff)
		}
	}
}

// TestCalled says how much more or less often a simulator counted calls.
func TestCalled(t *testing.T) {
	for _, test := range []struct {
		calls [2]float64
		want  string
	}{
		{[2]float64{1000, 2130}, "called 2.13× as often"},
		{[2]float64{1000, 1300}, "called 30.0% more often"},
		{[2]float64{1000, 400}, "called 60.0% less often"},
		{[2]float64{1000, 1050}, ""},
		{[2]float64{0, 1050}, ""},
		{[2]float64{}, ""},
	} {
		d := &Document{Functions: []Function{{Name: "sift", Event: "Ir", Shift: -1, Calls: test.calls, Self: grown(100, 150, 1.5, 1.5)}}}
		d.Events = []Event{{Name: "Ir", Unit: "count", Functions: d.Functions}}
		d.addReasons()
		var got strings.Builder
		for _, r := range d.Functions[0].Why {
			got.WriteString(r.Text)
		}
		if got.String() != test.want {
			t.Errorf("%v: %q, want %q", test.calls, got.String(), test.want)
		}
	}
}

// TestReasonsOnlyProved has changes that are not decided, or too small to be a reason.
func TestReasonsOnlyProved(t *testing.T) {
	open := grown(100, 150, 0.8, 2.9)
	open.Verdict = verdict.Inconclusive
	for name, test := range map[string]struct {
		misses Change
		ipc    text.Number
	}{
		"nothing decided":                   {open, 2},
		"few of all misses":                 {grown(100, 900, 5, 12), 2},
		"a rate within what is not decided": {open, 1.5},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Document{Functions: []Function{{Name: "sift", Event: "cpu-cycles", Shift: -1, Self: grown(100, 104, 0.9, 1.2)}}}
			instructions := grown(100, 80, 0.7, 0.95)
			instructions.Verdict = verdict.Inconclusive
			d.Events = []Event{
				{Name: "cpu-cycles", Unit: "cpu-cycles", Functions: d.Functions},
				{Name: "instructions", Unit: "instructions"},
				{Name: "branch-misses", Unit: "count"},
			}
			d.Events[2].Total = Change{Base: 1e6, Head: 1e6}
			d.Metrics = []Metrics{{}, {Name: "sift", IPCBase: 2, IPCHead: test.ipc, Changes: []*Change{&d.Functions[0].Self, &instructions, &test.misses}}}
			d.addReasons()
			if len(d.Functions[0].Why) > 0 {
				t.Errorf("it says %v", d.Functions[0].Why)
			}
		})
	}
}
