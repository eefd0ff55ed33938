package walk

import (
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/branch/diff"
	"profdiff/internal/branch/recording"
	"profdiff/internal/input"
	"profdiff/internal/llvm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/predict"
	"profdiff/internal/report/branches"
	"profdiff/internal/report/html"
	reportpredict "profdiff/internal/report/predict"
	"profdiff/internal/tools/browser"
)

const heap = "../../../profiles/message-heap/"

var symfs = objectstest.Dir(heap + "symbols")

func readBranches(t *testing.T, name string) *branch.Table {
	t.Helper()
	src, err := input.Open(heap+"callgrind/"+name, nil)
	do(t, err)
	defer src.Close()
	table, err := recording.Read(src, &branch.Options{})
	do(t, err)
	return table
}

func TestBrowserBranches(t *testing.T) {
	table := readBranches(t, "before.out")
	listing, err := annotate.Function(table, "message_compare", symfs)
	do(t, err)
	p := show(t, html.FromBranches(branches.New(table, branches.Parts{Page: &branches.Page{Listings: []branches.Listings{{Base: listing}}}}), html.Options{}), "", browser.Options{})
	do(t, p.Do(`document.querySelector("#panel [aria-expanded]").click()`))
	if got := eval[string](t, p, text); !strings.Contains(got, "tier S") || !strings.Contains(got, "push %rbp") {
		t.Error("the page does not show the tier and the code")
	}
}

// TestBrowserBranchCode looks at code that only one side has.
func TestBrowserBranchCode(t *testing.T) {
	before, after := readBranches(t, "before.out"), readBranches(t, "after.out")
	c, err := diff.Compare([]*branch.Table{before}, []*branch.Table{after}, diff.Options{})
	do(t, err)
	wanted := []string{"heap_sift_down", "message_compare"}
	base, head := annotate.Functions(before, wanted, symfs), annotate.Functions(after, wanted, symfs)
	p := show(t, html.FromBranchDiff(branches.NewDiff(c, &branches.Page{Listings: []branches.Listings{{Base: base[0], Head: head[0]}, {Base: base[1], Head: head[1]}}}), html.Options{}), "", browser.Options{})
	do(t, p.Do(`document.querySelector("#panel [aria-expanded]").click()`))
	if got := eval[string](t, p, text); !strings.Contains(got, "Before: instruction") || strings.Contains(got, "After: instruction") {
		t.Error("the code of one side is not shown as such")
	}
}

// TestBrowserAdded looks at a document that took over branches and a prediction of head alone.
func TestBrowserAdded(t *testing.T) {
	d := sample(t, small())
	d.Add(html.FromBranches(branches.New(readBranches(t, "before.out"), branches.Parts{}), html.Options{}))
	r := &predict.Result{
		Pair: &predict.Pair{Name: "loop", Unit: "an iteration", Head: &predict.Side{Name: "head"}, Source: predict.SourceAssumed},
		Head: predict.Cycles{Total: 7.5, Lo: 7, Hi: 8},
	}
	d.Add(html.FromPrediction(reportpredict.New(&predict.Prediction{Machine: &predict.Machine{}, Results: []*predict.Result{r}}), html.Options{}))
	p := show(t, d, "#view=pipeline", browser.Options{})
	if got := eval[string](t, p, `document.getElementById("panel").innerText`); strings.Contains(got, "Before\n") || !strings.Contains(got, "7.500") || !strings.Contains(got, "Static model, not a measurement") {
		t.Errorf("the page of head alone says %q", got)
	}
	data, err := p.PDF()
	do(t, err)
	if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(data, -1)); n != 1 {
		t.Errorf("%d pages are printed", n)
	}
}

func TestBrowserPrediction(t *testing.T) {
	r := &predict.Result{
		Pair:      &predict.Pair{Name: "loop", Unit: "message", Base: &predict.Side{Name: "a.s"}, Head: &predict.Side{Name: "b.s"}, Source: predict.SourceSimulated},
		Base:      predict.Cycles{Total: 20, Issue: 6, Dependency: 2, Misses: 12, Instructions: 30, DataBranches: 2, Mispredicted: 0.6, MissCost: 20},
		Head:      predict.Cycles{Total: 12, Issue: 7, Dependency: 5, Instructions: 36},
		Speedup:   predict.Interval{Value: 20.0 / 12, Lo: 1.4, Hi: 2},
		BreakEven: &predict.BreakEven{Base: true, Misses: 0.2, Rate: 0.1, MeasuredMisses: 0.6, MeasuredRate: 0.3, Cost: 20, Verdict: predict.AboveRate},
	}
	d := html.FromPrediction(reportpredict.New(&predict.Prediction{Machine: &predict.Machine{Version: "19", Model: llvm.Model{Name: "znver4", CPU: "znver5", StandIn: "znver4"}}, Results: []*predict.Result{r}}), html.Options{})
	p := show(t, d, "", browser.Options{})
	if got := eval[string](t, p, text); !strings.Contains(got, "Static model, not a measurement") || !strings.Contains(got, "simulated 30 %") || strings.Contains(got, "measured 30") {
		t.Errorf("the page says %q", got)
	}
}
