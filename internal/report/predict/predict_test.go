package predict

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict"
	"profdiff/internal/predict/core"
	"profdiff/internal/report/reporttest"
)

// prediction has a loop of which all is known, and code without a loop.
func prediction() *predict.Prediction {
	base := predict.Cycles{
		Total: 15, Issue: 0.75, Dependency: 0.25, Taken: 0.5, Misses: 13.5, Lo: 14.8, Hi: 15.3,
		Instructions: 6.5, TakenBranches: 1.5, DataBranches: 1, Mispredicted: 0.5, MissCost: 27, MCA: 1, Throughput: 0.75,
	}
	head := predict.Cycles{Total: 2, Issue: 1.5, Dependency: 0.5, Lo: 2, Hi: 2, Instructions: 8, TakenBranches: 1, MCA: 3, Throughput: 1.17, Unmodelled: 0.125}
	share := 0.4
	timelines := &[2]predict.Timeline{
		{Title: "before.s", Note: "the most frequent way, of 50% of the units", Lines: []string{"Index     0123", "", "[0,0]     DeER   addl\t$1, %eax", "[0,1]     D=eE   jge\t.L3"}, Marks: []string{"", "", "12% of samples", "0.5 misses a unit"}},
		{Title: "after.s", Note: "path", Lines: []string{"Index     012", "", "[0,0]     DeE   nop"}, Marks: []string{"", "", ""}},
	}
	return &predict.Prediction{
		Machine: &predict.Machine{Arch: asm.X8664, Version: "22.1.8", Model: llvm.Model{CPU: "znver5", MCPU: "znver4", Name: "Znver4", StandIn: "znver4"}, Core: &core.Core{Name: "znver5"}, Refill: 20, RefillSource: "measured"},
		Results: []*predict.Result{
			{
				Pair: &predict.Pair{Name: "sum_below, loop 1 at 0x1000", Unit: "an iteration", Source: predict.SourceSimulated, Measured: &predict.Interval{Value: 7.48, Lo: 7.4, Hi: 7.6}, MeasuredBy: "cycles a run, 10 and 10 runs", ProgramShare: &share},
				Base: base, Head: head, Speedup: predict.Interval{Value: 7.5, Lo: 5.8, Hi: 9.7}, Program: &predict.Interval{Value: 1.53, Lo: 1.49, Hi: 1.56},
				BreakEven: &predict.BreakEven{Base: true, Misses: 0.0185, Rate: 0.0185, MeasuredMisses: 0.5, MeasuredRate: 0.5, Cost: 27, Verdict: predict.AboveRate},
				Evidence:  predict.Evidence{Tier: predict.TierVendor, Doubts: []predict.Doubt{{Cause: predict.CauseForwarding, Side: 1, Share: 0.7}, {Cause: predict.CauseModel, Side: -1, Share: 0.3, Remedy: predict.RemedyCalibrate}}},
				Flags:     []string{"LLVM has no model of znver5 and takes that of znver4"}, Timelines: timelines, AllPaths: true,
			},
			{
				Pair: &predict.Pair{Name: "a.s → b.s\x1b", Unit: "one run of the code", Source: predict.SourceAssumed},
				Base: head, Head: head, Speedup: predict.Interval{Value: 1, Lo: 0.5, Hi: 2},
				BreakEven: &predict.BreakEven{Verdict: predict.NoBranches}, AllPaths: true, MorePaths: [2]int{123, 0},
				Paths: [2][]*predict.Path{
					{{Name: "listing", Listing: true, Instructions: 21, Once: 14, Steady: 8}, {Name: "P1", Instructions: 10, Once: 9, Steady: 3.5}},
					{{Name: "path", Instructions: 10, Once: 9, Steady: 4}},
				},
			},
		},
	}
}

func TestPredictionText(t *testing.T) {
	p := prediction()
	var b bytes.Buffer
	for _, width := range []int{200, 80} {
		if err := WriteText(&b, New(p), Options{Width: width}); err != nil {
			t.Fatal(err)
		}
	}
	p.Results = append(p.Results, p.Results...)
	if err := WriteText(&b, New(p), Options{}); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/predict.txt", b.Bytes())
}

// TestWords checks in the text, in the JSON and in rows of many loops that no winner is named
// while 1 is in an interval, and that it is where it is not.
func TestWords(t *testing.T) {
	winners := regexp.MustCompile(`faster|slower|wins|loses|"(above|below|always|never)"`)
	for _, test := range []struct {
		speedup predict.Interval
		verdict predict.BreakEvenVerdict
		want    string
	}{
		{predict.Interval{Value: 7.5, Lo: 5.8, Hi: 9.7}, predict.AboveRate, "faster"},
		{predict.Interval{Value: 0.5, Lo: 0.4, Hi: 0.9}, predict.BelowRate, "slower"},
		{predict.Interval{Value: 7.5, Lo: 0.99, Hi: 60}, predict.Undecided, "can't tell yet"},
		{predict.Interval{Value: 0.5, Lo: 0.2, Hi: 1}, predict.Undecided, "can't tell yet"},
	} {
		p := prediction()
		r := p.Results[0]
		r.Speedup, r.Pair.Measured, r.Program, r.Timelines = test.speedup, nil, nil, nil
		r.BreakEven.Lo, r.BreakEven.Hi, r.BreakEven.Verdict = 0, 1, test.verdict
		for _, loops := range []int{1, 4} {
			p.Results = slices.Repeat([]*predict.Result{r}, loops)
			var text, json bytes.Buffer
			if err := errors.Join(WriteText(&text, New(p), Options{}), WriteJSON(&json, New(p))); err != nil {
				t.Fatal(err)
			}
			for _, out := range []string{text.String(), json.String()} {
				if !strings.Contains(out, test.want) || test.want == "can't tell yet" && winners.MatchString(out) {
					t.Errorf("%+v, %d loops: want %s: %q in\n%s", test.speedup, loops, test.want, winners.FindString(out), out)
				}
			}
		}
	}
}

// TestRefused checks that nothing is said in cycles of a loop that is not predicted.
func TestRefused(t *testing.T) {
	p := prediction()
	p.Results = []*predict.Result{{
		Pair:    &predict.Pair{Name: "add", Unit: "one run of the code", Source: predict.SourceAssumed},
		Refused: "the loop's time is decided by contention for a cache line: no model of one core tells it",
		Base:    predict.Cycles{Instructions: 6, TakenBranches: 1}, Head: predict.Cycles{Instructions: 2, TakenBranches: 1},
		Contention: [2]*predict.Contention{{Instructions: 6, Atomics: 1, Retries: []string{"cbnz w4, .L3 in line 14"}}, {Instructions: 2, Atomics: 1, Alone: &predict.Interval{Value: 13, Lo: 12.5, Hi: 14}}},
	}}
	var text, json bytes.Buffer
	if err := errors.Join(WriteText(&text, New(p), Options{}), WriteJSON(&json, New(p))); err != nil {
		t.Fatal(err)
	}
	want := `not predicted  the loop's time is decided by contention for a cache line: no
               model of one core tells it
before         6 instructions a unit, 1 atomic operation; tried again by cbnz
               w4, .L3 in line 14
after          2 instructions a unit, 1 atomic operation, 13 cycles [12.5, 14]
               of a core alone
`
	if got := text.String(); !strings.HasPrefix(got, want) || strings.ContainsAny(got, "×") {
		t.Errorf("text:\n%s", got)
	}
	for _, want := range []string{`"predicted_speedup": null`, `"interval": null`, `"verdict": "not predicted"`, `"cycles_per_unit": null`, `"atomics": 1`, `"instructions_per_unit": 6`} {
		if !strings.Contains(json.String(), want) {
			t.Errorf("JSON without %s", want)
		}
	}
	reporttest.Validate(t, reporttest.Schema[Document](t, "predict.schema.json"), json.Bytes())
}

func TestPredictionJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, New(prediction())); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/predict.json", b.Bytes())
	reporttest.Validate(t, reporttest.Schema[Document](t, "predict.schema.json"), b.Bytes())
}

// TestBreakEvenText has what is said of intervals of rates, for both sides.
func TestBreakEvenText(t *testing.T) {
	var b bytes.Buffer
	for _, of := range []struct {
		verdict predict.BreakEvenVerdict
		says    Verdict // if base has the branches
		lo, hi  float64
	}{
		{predict.AboveRate, Faster, 0.05, 0.14},
		{predict.AboveRate, Faster, 0, 0.14},
		{predict.BelowRate, Slower, 0.17, 0.3},
		{predict.BelowRate, Slower, 0.17, 1},
		{predict.AlwaysBranchless, Faster, 0, 0},
		{predict.NeverBranchless, Slower, 0.6, 1},
		{predict.Undecided, NotDecided, 0.05, 0.3},
		{predict.Undecided, NotDecided, 0, 1},
		{predict.NoBranches, NotDecided, 0, 0},
	} {
		for _, base := range []bool{true, false} {
			says := of.says
			if !base {
				says = map[Verdict]Verdict{Faster: Slower, Slower: Faster, NotDecided: NotDecided}[says]
			}
			e := &predict.BreakEven{Base: base, Misses: 0.2, Rate: 0.1, MeasuredMisses: 0.3, MeasuredRate: 0.15, Lo: of.lo, Hi: of.hi, Verdict: of.verdict}
			b.WriteString(breakEvenText(e, says, !base) + "\n")
		}
	}
	reporttest.Golden(t, "testdata/predict_break_even.txt", b.Bytes())
}

func TestLoopsText(t *testing.T) {
	share, half := 0.5, 0.75
	loops := []*predict.Annotated{
		{Name: "f, loop 1 at 0x10", Arch: asm.X8664, Share: &share, Count: 1234, Source: predict.SourceSimulated, Ways: []predict.Way{{Name: "f, loop 1 at 0x10, way 1", Share: &half, Lines: []predict.WayLine{
			{Text: "addl $1, %eax", Place: "0x10", Heat: 0.25}, {Text: "movq $0, -8(%rsp)", Raw: "call g\x1b", Place: "0x13"}, {Raw: "ud2", Place: "0x18"},
		}}}},
		{Name: "g", Arch: asm.AArch64, Source: predict.SourceAssumed, Flags: []string{"the loop has several entries"}, Ways: []predict.Way{{Name: "g\n, way 1", Lines: []predict.WayLine{{Text: "add x0, x0, #1", Place: "line 3"}}}}},
	}
	var b bytes.Buffer
	if err := WriteLoops(&b, loops, "app.data", ""); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/loops.s", b.Bytes())
}
