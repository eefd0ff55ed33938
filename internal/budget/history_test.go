package budget

import (
	"math/rand/v2"
	"strings"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/verdict"
)

// remembered runs checks of costs, and says for each whether it noted a step.
func remembered(costs []float64, kernel func(i int) string) (steps []bool) {
	var past []HistoryLine
	for i, cost := range costs {
		o := &Outcome{
			Design:  Design{Head: []*run.Run{{Recording: run.Recording{Arch: "x86_64", Kernel: kernel(i)}}}},
			Results: []Result{{ID: "a", Verdict: verdict.Pass, Deciding: &Claim{Kind: RelativeKind, What: "cost", Head: cost}}},
		}
		past = append(past, o.Remember(past))
		steps = append(steps, strings.Contains(strings.Join(o.Results[0].Notes, "\n"), "a step, or another machine?"))
	}
	return steps
}

func TestSteps(t *testing.T) {
	same := func(int) string { return "6.1" }
	var costs []float64
	for i := range 30 {
		cost := 100 + float64(i%3)
		if i >= 15 {
			cost += 5
		}
		costs = append(costs, cost)
	}
	for i, step := range remembered(costs, same) {
		if want := i == 19; step != want {
			t.Errorf("check %d: step %v, want %v", i, step, want)
		}
	}
	// A step of the machine is none of the program.
	for i, step := range remembered(costs, func(i int) string {
		if i < 15 {
			return "6.1"
		}
		return "6.6"
	}) {
		if step {
			t.Errorf("check %d on another kernel: a step", i)
		}
	}
}

// TestStepsOfNoise counts the steps of costs that do not change: one of 3,003 checks up, and
// as many down.
func TestStepsOfNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	steps, checks := 0, 0
	for range 2000 {
		var costs []float64
		for range 20 {
			costs = append(costs, 100+rng.NormFloat64())
		}
		for _, step := range remembered(costs, func(int) string { return "" })[14:] {
			checks++
			if step {
				steps++
			}
		}
	}
	if rate := float64(steps) / float64(checks); rate > 2.0/3003*2 {
		t.Errorf("%d of %d checks show a step", steps, checks)
	}
}

// TestRemember notes what head cost, on what machine.
func TestRemember(t *testing.T) {
	m := runtest.NewModel(3, 1, 0.02)
	base, head := m.Sides(8, false, 0, nil)
	f := parseFile(t, noWork+"- {id: f, match: {function: f0}, limit: {fail: +50%}}\n- {id: none, match: {function: g}, limit: {fail: +5%}}\n")
	o := mustCheck(t, f, &Inputs{Base: base, Head: head, Code: codeWith("main")})
	line := o.Remember(nil)
	if line.Schema != HistorySchema || line.Recorded.IsZero() || len(line.Budgets) != 2 {
		t.Errorf("line %+v", line)
	}
	if b := line.Budgets[0]; b.Verdict != verdict.Pass || b.What != "cpu-clock" || b.Head != o.Results[0].Deciding.Head || !(b.Headroom > 0.5) {
		t.Errorf("budget %+v", b)
	}
	if b := line.Budgets[1]; b.Head != 0 || b.Verdict != verdict.Fail {
		t.Errorf("budget that matches nothing %+v", b)
	}
}
