package budget

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// lookInputs are n files of each side.
func lookInputs(n int) (list []LookInput) {
	for i := range n {
		for _, side := range []string{"base", "head"} {
			list = append(list, LookInput{Side: side, Name: fmt.Sprintf("%s/%d", side, i), SHA256: fmt.Sprintf("%s%d", side, i)})
		}
	}
	return list
}

func TestAdmit(t *testing.T) {
	first := &Looks{Schema: looksSchema, Budget: "b", Looks: []LookNote{{Outcome: verdict.Inconclusive, Open: true, Inputs: lookInputs(8)}}}
	decided := &Looks{Schema: looksSchema, Budget: "b", Looks: []LookNote{{Outcome: verdict.Fail, Inputs: lookInputs(8)}}}
	both := &Looks{Schema: looksSchema, Budget: "b", Looks: []LookNote{first.Looks[0], {Outcome: verdict.Fail, Inputs: lookInputs(16)}}}
	renamed := lookInputs(8)
	for i := range renamed {
		renamed[i].Name = "elsewhere"
	}
	streams := lookInputs(16)
	streams[0].Stream = "frame_ms"
	for _, test := range []struct {
		name   string
		looks  *Looks
		look   stats.Look
		budget string
		inputs []LookInput
		want   string // "" if it is admitted
	}{
		{"the first", nil, stats.FirstLook, "b", lookInputs(8), ""},
		{"a second without a first", nil, stats.SecondLook, "b", lookInputs(16), "a second look without a first"},
		{"the first again", first, stats.FirstLook, "b", lookInputs(8), ""},
		{"the first again, moved", first, stats.FirstLook, "b", renamed, ""},
		{"runs of another change", decided, stats.FirstLook, "b", lookInputs(9), "the looks of this file are over"},
		{"another first", first, stats.FirstLook, "b", lookInputs(9), "the first look was taken at 16 other files"},
		{"the second", first, stats.SecondLook, "b", lookInputs(16), ""},
		{"another budget", first, stats.SecondLook, "c", lookInputs(16), "the budget file was changed"},
		{"too early", first, stats.SecondLook, "b", lookInputs(12), "the second look is planned with twice the runs: 16 of base, not 12"},
		{"too late", first, stats.SecondLook, "b", lookInputs(17), "the second look is planned with twice the runs: 16 of base, not 17"},
		{"without a run of the first", first, stats.SecondLook, "b", lookInputs(17)[2:], "the second look is at all runs, those of the first included: base/0 of base is not there"},
		{"with values that the first had not", first, stats.SecondLook, "b", append(lookInputs(16), LookInput{Side: "head", Stream: "s", SHA256: "x"}), "the second look is planned with twice the runs: 0 of head, not 1"},
		{"a recording that became a value", first, stats.SecondLook, "b", streams, "the second look is at all runs, those of the first included: base/0 of base is not there"},
		{"after a decision", decided, stats.SecondLook, "b", lookInputs(16), "the first look left nothing open that more runs settle: its outcome is fail"},
		{"the second again", both, stats.SecondLook, "b", lookInputs(16), ""},
		{"a third", both, stats.SecondLook, "b", lookInputs(32), "both looks were taken"},
	} {
		err := test.looks.Admit(test.look, test.budget, test.inputs)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestLookLevelsOfFile checks that one file judges the same runs by stricter levels at a
// first look, and that a second is not made of nothing.
func TestLookLevelsOfFile(t *testing.T) {
	f := parseFile(t, "version: 1\ndefaults: {normalize: none, looks: 2}\nbudgets:\n- {id: f, match: {function: f}, limit: {fail: +10%}}\n")
	one := parseFile(t, noWork+"- {id: f, match: {function: f}, limit: {fail: +10%}}\n")
	in := &Inputs{
		Base: sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!f", 1000})),
		Head: sideOf(t, 8, 1, clock(stackSpec{"m", "app!main;app!f", 1120})),
	}
	o := mustCheck(t, f, in)
	if r := result(t, o, "f"); o.Look != stats.FirstLook || r.Verdict != verdict.Inconclusive || !o.Open() {
		t.Errorf("first look %d: %s %q", o.Look, r.Verdict, r.Reasons)
	}
	p := result(t, o, "f").Deciding
	if want := stats.FirstLook.Overall(p.P); p.Adjusted != want || !(p.Adjusted > p.P) {
		t.Errorf("p %v is %v for both looks, want %v", p.P, p.Adjusted, want)
	}
	second := *in
	second.Look = stats.SecondLook
	if r := result(t, mustCheck(t, f, &second), "f"); !(r.Deciding.Adjusted < p.Adjusted) {
		t.Errorf("the level of the second look is %v, of the first %v", r.Deciding.Adjusted, p.Adjusted)
	}
	if r := result(t, mustCheck(t, one, in), "f"); r.Deciding.Adjusted != r.Deciding.P {
		t.Errorf("one look: p %v became %v", r.Deciding.P, r.Deciding.Adjusted)
	}
	if _, err := one.Check(&second); err != ErrNoSecondLook {
		t.Errorf("second look of a file that plans one: %v", err)
	}
	// What is blocked, more runs do not settle.
	in.Head[0].Accounting.Lost = 1e6
	if o := mustCheck(t, f, in); o.Open() {
		t.Error("runs that lost samples are worth a second look")
	}
}

// TestLooksCanFail refuses plans of which neither look can fail.
func TestLooksCanFail(t *testing.T) {
	file := func(looks, budgets, runs int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "version: 1\ndefaults: {test: rank, looks: %d, require: {runs: %d}}\nbudgets:\n", looks, runs)
		for i := range budgets {
			fmt.Fprintf(&b, "- {id: f%d, match: {function: f}, limit: {fail: +10%%}}\n", i)
		}
		return b.String()
	}
	for _, test := range []struct {
		looks, budgets, runs int
		want                 bool
	}{
		{1, 12, 4, false},
		{2, 12, 4, true}, // the second look has 8 runs
		{2, 700, 4, false},
		{2, 12, 3, false},
	} {
		_, err := Parse("test.yaml", []byte(file(test.looks, test.budgets, test.runs)))
		if (err == nil) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// FuzzParseLooks reads anything; what it accepts can be asked.
func FuzzParseLooks(f *testing.F) {
	good, err := json.Marshal(&Looks{Schema: looksSchema, Budget: "b", Looks: []LookNote{{Outcome: verdict.Inconclusive, Open: true, Level: 0.0088, Inputs: lookInputs(4)}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":"profdiff.looks/v1","looks":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLooks(data)
		if err != nil {
			if l != nil {
				t.Error("notes and an error")
			}
			return
		}
		for _, look := range []stats.Look{stats.FirstLook, stats.SecondLook} {
			if err := l.Admit(look, l.Budget, lookInputs(8)); err == nil && int(look) > len(l.Looks)+1 {
				t.Errorf("look %d admitted after %d", look, len(l.Looks))
			}
			l.Add(&Outcome{Look: look, Alpha: 0.05}, l.Budget, nil)
		}
	})
}
