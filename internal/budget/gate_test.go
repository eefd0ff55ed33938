package budget

import (
	"fmt"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// twenty are the stacks of twenty functions of different cost.
func twenty(scale func(i int) float64) (list []stackSpec) {
	for i := range 20 {
		list = append(list, stackSpec{"m", fmt.Sprintf("app!main;app!f%d", i), scale(i) * (400 + 40*float64(i))})
	}
	return list
}

// TestGate checks what a gate is for: what diff cannot say, it does not let pass, and a program
// that is slower throughout fails.
func TestGate(t *testing.T) {
	alike := func(factor float64) func(int) float64 { return func(int) float64 { return factor } }
	turns := func(base, head []stackSpec) *Inputs {
		return &Inputs{Base: sideOf(t, 10, 0, clock(base...)), Head: sideOf(t, 10, 1, clock(head...))}
	}
	blocks := func(base, head []stackSpec) *Inputs {
		return &Inputs{Base: sideOf(t, 10, 0, clock(base...)), Head: sideOf(t, 10, 100, clock(head...))}
	}
	for _, test := range []struct {
		name       string
		in         *Inputs
		normalize  string
		everything verdict.Verdict
		function   verdict.Verdict // of one function, the limit of which is +2% too
	}{
		{"nothing changed", turns(twenty(alike(1)), twenty(alike(1))), "auto", verdict.Pass, verdict.Pass},
		{"all functions +15%", turns(twenty(alike(1)), twenty(alike(1.15))), "auto", verdict.Fail, verdict.Fail},
		{"all functions +15%, cost of a run", turns(twenty(alike(1)), twenty(alike(1.15))), "none", verdict.Fail, verdict.Fail},
		// By what was asked for, f did as the others. That says nothing of everything.
		{"all functions +15%, estimated reference", turns(twenty(alike(1)), twenty(alike(1.15))), "reference", verdict.Inconclusive, verdict.Pass},
		{"all functions +40%, estimated reference", turns(twenty(alike(1)), twenty(alike(1.4))), "reference", verdict.Inconclusive, verdict.Inconclusive},
		{"half of the functions, shares", turns(twenty(alike(1)), twenty(func(i int) float64 { return 1 + float64(i%2) })), "total", "", verdict.Inconclusive},
		{"blocked order, nothing changed", blocks(twenty(alike(1)), twenty(alike(1))), "auto", verdict.Inconclusive, verdict.Inconclusive},
		{"blocked order, all functions +15%", blocks(twenty(alike(1)), twenty(alike(1.15))), "auto", verdict.Inconclusive, verdict.Inconclusive},
		{"blocked order, all functions -15%", blocks(twenty(alike(1)), twenty(alike(0.85))), "auto", verdict.Inconclusive, verdict.Inconclusive},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "version: 1\ndefaults: {normalize: " + test.normalize + "}\nbudgets:\n- {id: f, match: {function: f3}, limit: {fail: +2%}}\n"
			want := map[string]verdict.Verdict{"f": test.function}
			if test.everything != "" { // of shares it is no budget
				text += "- {id: everything, limit: {fail: +2%}}\n"
				want["everything"] = test.everything
			}
			o := mustCheck(t, parseFile(t, text), test.in)
			for id, want := range want {
				if r := result(t, o, id); r.Verdict != want || want == verdict.Inconclusive && len(r.Reasons) == 0 {
					t.Errorf("%s: %s %q, want %s; %s", id, r.Verdict, r.Reasons, want, o.Design.Normalization)
				}
			}
			withheld(t, o)
		})
	}
}

// withheld checks that what the comparison withholds passes no budget that is relative to base.
func withheld(t *testing.T, o *Outcome) {
	t.Helper()
	e := &o.Comparison.Events[0]
	for i := range o.Results {
		r := &o.Results[i]
		for _, c := range r.Claims {
			if why := e.Withheld; why != "" && c.Relative() && c.Verdict == verdict.Pass {
				t.Errorf("%s passes, though diff gives no verdict: %s", r.ID, why)
			}
			if why := e.NoTotal; why != "" && r.Budget.Match == nil && c.Relative() && c.Verdict == verdict.Pass {
				t.Errorf("%s passes, though diff gives no verdict on the total: %s", r.ID, why)
			}
		}
	}
}

// TestGateFails takes 15 drawn orders of a slower program: none passes.
func TestGateFails(t *testing.T) {
	f := parseFile(t, "version: 1\nbudgets:\n- {id: everything, limit: {fail: +2%}}\n")
	for seed := range 15 {
		var runs [2][]*run.Run
		for i := range 10 {
			first := (i*7 + seed*3) % 4 / 2 // which side is first in a pair
			for side, scale := range []float64{1, 1.15} {
				stacks := twenty(func(k int) float64 { return scale * wobble[(i+k+seed)%len(wobble)] })
				runs[side] = append(runs[side], sideOf(t, 1, 4*i+2*(side^first), clock(stacks...))[0])
			}
		}
		o := mustCheck(t, f, &Inputs{Base: runs[0], Head: runs[1]})
		if r := result(t, o, "everything"); r.Verdict != verdict.Fail {
			t.Errorf("order %d: %s %q", seed, r.Verdict, r.Reasons)
		}
	}
}
