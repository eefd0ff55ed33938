package html

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/branch/diff"
	"profdiff/internal/branch/recording"
	"profdiff/internal/budget"
	"profdiff/internal/input"
	"profdiff/internal/llvm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/predict"
	"profdiff/internal/report/branches"
	"profdiff/internal/report/check"
	report "profdiff/internal/report/diff"
	reportpredict "profdiff/internal/report/predict"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

const heap = "../../../profiles/message-heap/"

func readBranches(t *testing.T, name string) *branch.Table {
	t.Helper()
	src, err := input.Open(heap+"callgrind/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	table, err := recording.Read(src, &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestBranches(t *testing.T) {
	table := readBranches(t, "before.out")
	symfs := objectstest.Dir(heap + "symbols")
	code, err := annotate.Function(table, "message_compare", symfs)
	if err != nil {
		t.Fatal(err)
	}
	d := FromBranches(branches.New(table, branches.Parts{Page: &branches.Page{Listings: []branches.Listings{{Base: code}}}}), Options{})
	if len(d.Branches.Rows)+d.Branches.Hidden != len(table.Branches) {
		t.Errorf("%d branches are shown and %d hidden, of %d", len(d.Branches.Rows), d.Branches.Hidden, len(table.Branches))
	}
	first := &d.Branches.Rows[0]
	if first.Function != "message_compare" || first.Base.Rate == nil || first.Code != 0 || first.Head != nil {
		t.Errorf("the first branch is %+v", first)
	}
	linked := 0
	for _, row := range d.Branches.Code[0].Rows {
		if row.Base.Branch >= 0 {
			linked++
		}
	}
	if linked != 3 {
		t.Errorf("%d instructions are linked to branches", linked)
	}
}

func TestBranchDiff(t *testing.T) {
	c, err := diff.Compare([]*branch.Table{readBranches(t, "before.out")}, []*branch.Table{readBranches(t, "after.out")}, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := FromBranchDiff(branches.NewDiff(c, nil), Options{})
	if len(d.Branches.Rows) != len(c.Branches) || d.Branches.Hidden != c.Hidden {
		t.Errorf("%d branches and %d hidden, want %d and %d", len(d.Branches.Rows), d.Branches.Hidden, len(c.Branches), c.Hidden)
	}
	for i := range c.Branches {
		got, want := &d.Branches.Rows[i], &c.Branches[i]
		if (got.Base == nil) != (want.Base == nil) || (got.Head == nil) != (want.Head == nil) {
			t.Errorf("row %d has other sides", i)
		}
		if want.Misses.Verdict == verdict.Regressed && got.Verdict != verdict.Regressed || want.Misses.Verdict == verdict.Improved && got.Verdict != verdict.Improved {
			t.Errorf("row %d is %s, want %s", i, got.Verdict, want.Misses.Verdict)
		}
	}
	render(t, d)
}

// TestBranchCode checks that the code of both sides is aligned, and linked to branches by
// their places.
func TestBranchCode(t *testing.T) {
	before, after := readBranches(t, "before.out"), readBranches(t, "after.out")
	c, err := diff.Compare([]*branch.Table{before}, []*branch.Table{after}, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	symfs := objectstest.Dir(heap + "symbols")
	wanted := []string{"heap_sift_down", "message_compare", "no_such_function"}
	base, head := annotate.Functions(before, wanted, symfs), annotate.Functions(after, wanted, symfs)
	// Without branches, message_compare is not in the table of head.
	if base[0] == nil || head[0] == nil || base[1] == nil || head[1] != nil || base[2] != nil {
		t.Fatalf("listings %v and %v", base, head)
	}
	d := FromBranchDiff(branches.NewDiff(c, &branches.Page{Listings: []branches.Listings{{Base: base[0], Head: head[0]}, {Base: base[1], Head: head[1]}}}), Options{})
	if len(d.Branches.Code) != 2 {
		t.Fatalf("%d functions have code", len(d.Branches.Code))
	}
	linked := func(code *BranchCode) (both, base, head int) {
		for i := range code.Rows {
			r := &code.Rows[i]
			if r.Base != nil && r.Head != nil {
				both++
			}
			if r.Base != nil && r.Base.Branch >= 0 {
				if d.Branches.Rows[r.Base.Branch].Base == nil {
					t.Errorf("+%x is linked to a branch that base does not have", r.Base.Offset)
				}
				base++
			}
			if r.Head != nil && r.Head.Branch >= 0 {
				head++
			}
		}
		return both, base, head
	}
	if both, x, y := linked(&d.Branches.Code[0]); both < 50 || x != 4 || y != 4 {
		t.Errorf("heap_sift_down: %d rows of both sides, %d and %d branches", both, x, y)
	}
	if both, x, y := linked(&d.Branches.Code[1]); both != 0 || x != 3 || y != 0 {
		t.Errorf("message_compare: %d rows of both sides, %d and %d branches", both, x, y)
	}
	for i := range d.Branches.Rows {
		if r := &d.Branches.Rows[i]; r.Code >= 0 && d.Branches.Code[r.Code].Function != r.Function {
			t.Errorf("%s %s has the code of %s", r.Function, r.Place, d.Branches.Code[r.Code].Function)
		}
	}
}

// TestAdd checks what a document takes over from others.
func TestAdd(t *testing.T) {
	d := sample(t, small())
	sentence := d.Verdict.Sentence
	d.Add(FromBranches(branches.New(readBranches(t, "before.out"), branches.Parts{}), Options{}))
	side := &predict.Side{Name: "head"}
	r := &predict.Result{Pair: &predict.Pair{Name: "loop", Unit: "an iteration", Head: side, Source: predict.SourceAssumed}, Head: predict.Cycles{Total: 7.5, Lo: 7, Hi: 8}}
	d.Add(FromPrediction(reportpredict.New(&predict.Prediction{Machine: &predict.Machine{}, Results: []*predict.Result{r}}), Options{}))
	if d.Verdict.Sentence != sentence || d.Branches == nil || d.Pipeline == nil || len(d.Also) != 2 {
		t.Errorf("the document has %+v and %+v", d.Verdict, d.Also)
	}
	if got, want := d.Also[1].Text, "7.500 cycles for an iteration are predicted. A static model, not a measurement: what is not called measured is predicted."; got != want {
		t.Errorf("prediction %q, want %q", got, want)
	}
	if last := d.Cards[len(d.Cards)-1]; last.Name != qualityName || !strings.HasSuffix(last.Change, "samples") {
		t.Errorf("the last card is %+v", last)
	}
}

func TestTimeline(t *testing.T) {
	lines := strings.Split(`Timeline view:
                    012
Index     0123456789

[0,0]     DeER .    . .   addq	$8, %rax
[0,1]     D=eeeER   . .   vmulps	%xmm0, %xmm1, %xmm2
[0,2]     D---R.    . .   xorl	%eax, %eax
[1,0]     . DeE------R.   RDTSC
[1,1]     . D=====eER .   jne	.LBB0_1
[1,2]     . D=====    .   cut off`, "\n")
	want := []Step{
		{0, 0, "addq $8, %rax", "", 0, 1, 1, 2, 3},
		{0, 1, "vmulps %xmm0, %xmm1, %xmm2", "5% of samples", 0, 2, 2, 5, 6},
		{0, 2, "xorl %eax, %eax", "", 0, 1, 1, 1, 4},
		{1, 0, "RDTSC", "", 2, 3, 3, 4, 11},
		{1, 1, "jne .LBB0_1", "", 2, 8, 8, 9, 10},
	}
	marks := make([]string, len(lines))
	marks[5] = "5% of samples"
	got := timelineSteps(&reportpredict.Timeline{Lines: lines, Marks: marks})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
}

func TestPrediction(t *testing.T) {
	r := &predict.Result{
		Pair:    &predict.Pair{Name: "loop", Unit: "message", Base: &predict.Side{Name: "a.s"}, Head: &predict.Side{Name: "b.s"}, Source: predict.SourceSimulated},
		Base:    predict.Cycles{Total: 20, Issue: 6, Dependency: 2, Misses: 12, Instructions: 30, DataBranches: 2, Mispredicted: 0.6, MissCost: 20},
		Head:    predict.Cycles{Total: 12, Issue: 7, Dependency: 5, Instructions: 36},
		Speedup: predict.Interval{Value: 20.0 / 12, Lo: 1.4, Hi: 2},
		// 4 cycles more without misses, of 20 each: 0.2 misses of 2 branches.
		BreakEven: &predict.BreakEven{Base: true, Misses: 0.2, Rate: 0.1, MeasuredMisses: 0.6, MeasuredRate: 0.3, Cost: 20, Verdict: predict.AboveRate},
	}
	d := FromPrediction(reportpredict.New(&predict.Prediction{Machine: &predict.Machine{Version: "19", Model: llvm.Model{Name: "znver4", CPU: "znver5", StandIn: "znver4"}}, Results: []*predict.Result{r}}), Options{})
	l := &d.Pipeline.Loops[0]
	at := func(rate float64) float64 {
		for i := 1; i < len(l.BreakEven); i++ {
			if a, b := l.BreakEven[i-1], l.BreakEven[i]; rate <= b.Rate {
				return a.Speedup + (b.Speedup-a.Speedup)*(rate-a.Rate)/(b.Rate-a.Rate)
			}
		}
		return math.NaN()
	}
	if got := at(0.1); math.Abs(got-1) > 1e-9 {
		t.Errorf("at the break-even rate the speed-up is %v", got)
	}
	if got := at(0.3); math.Abs(got-20.0/12) > 1e-9 {
		t.Errorf("at the rate of the prediction the speed-up is %v", got)
	}
	if *l.At != 0.1 || l.RateSource != "simulated" || l.Base.Bottleneck != "mispredictions" || l.Base.IPC != 1.5 {
		t.Errorf("loop %+v", l)
	}
}

func TestOutcome(t *testing.T) {
	limit := 1.01
	claim := &budget.Claim{
		Kind: budget.RelativeKind, FailText: "+1%",
		Limit: verdict.Limit{Value: 1.014, Range: stats.Interval{Lo: 1.0101, Hi: 1.02}, Fail: &limit, Verdict: verdict.Fail},
	}
	o := &budget.Outcome{Verdict: verdict.Fail, Results: []budget.Result{
		{ID: "total", Verdict: verdict.Fail, Deciding: claim, Claims: []*budget.Claim{claim}, Reasons: []string{"exceeds its limit"}},
		{ID: "nothing measured", Verdict: verdict.Inconclusive},
	}}
	d := sample(t, small())
	before := d.Verdict.Sentence
	d.AddOutcome(check.New(o, ""), report.Side{}, report.Side{}, Options{})
	want := []Budget{
		{Name: "total", Limit: "+1%", Measured: "+1.4\u202f%", Interval: "> +1%", Outcome: verdict.Fail, Reason: "exceeds its limit"},
		{Name: "nothing measured", Limit: "–", Measured: "–", Outcome: verdict.Inconclusive},
	}
	if d := cmp.Diff(want, d.Budgets); d != "" {
		t.Errorf("budgets (-want +got):\n%s", d)
	}
	if d.Verdict.Outcome != verdict.Fail || !strings.Contains(d.Verdict.Sentence, "total: +1.4") || d.Verdict.Ground[0] != "The comparison itself, which has no limits: "+before+"." {
		t.Errorf("verdict %+v", d.Verdict)
	}
	page := string(render(t, d))
	if !strings.Contains(page, "<title>✗ Fail: total: &#43;1.4%, more than &#43;1% (limit &#43;1%); of 2 budgets 1 fail, 1 can&#39;t tell yet") {
		t.Error("the title does not have the verdict")
	}
}

// TestGain checks that what is slower is not called a speed-up.
func TestGain(t *testing.T) {
	for _, test := range []struct {
		loop Loop
		want string
	}{
		{Loop{Predicted: &Estimate{1.5, 1.2, 1.9}}, "f: a speed-up of 1.50× [1.20, 1.90] is predicted"},
		{Loop{Predicted: &Estimate{0.2, 0.16, 0.25}}, "f: a slow-down of 5.00× [4.00, 6.25] is predicted"},
		{Loop{Predicted: &Estimate{0.2, 0.16, 0.25}, Measured: &Estimate{0.25, 0.2, 0.5}}, "f: a slow-down of 5.00× [4.00, 6.25] is predicted, 4.00× [2.00, 5.00] was measured"},
		{Loop{Predicted: &Estimate{1.1, 0.9, 1.2}, Measured: &Estimate{0.8, 0.8, 0.8}}, "f: 1.10× [0.90, 1.20], which cannot be told yet, is predicted, a slow-down of 1.25× [1.25, 1.25] was measured"},
	} {
		test.loop.Name, test.loop.Base = "f", &LoopSide{}
		if got := test.loop.sentence(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestApart checks that it is said why the change differs from the change of the means.
func TestApart(t *testing.T) {
	for _, test := range []struct {
		c    *report.Change
		want string
	}{
		{changeOf(16.9, 16.64, 1.0001, stats.Interval{Lo: 0.9, Hi: 1.1}), "0.0\u202f% is the typical change from run to run, which is what was tested; the means beside it, which odd runs move, differ by −1.5\u202f%."},
		{changeOf(118.3, 97.2, 0.8225, stats.Interval{Lo: 0.8, Hi: 0.83}), ""},
		{changeOf(0, 5, math.Inf(1), stats.Interval{Lo: 3, Hi: math.Inf(1)}), ""},
		{changeOf(5, 0, 0, stats.Interval{Lo: 0, Hi: 0.5}), ""},
		{changeOf(5, 6, math.NaN(), stats.Interval{Hi: math.Inf(1)}), ""},
	} {
		if got := apart(test.c); got != test.want {
			t.Errorf("%v → %v: %q, want %q", test.c.Base, test.c.Head, got, test.want)
		}
	}
}
