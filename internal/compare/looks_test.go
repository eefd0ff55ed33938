package compare

import (
	"strings"
	"testing"

	"profdiff/internal/run/runtest"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// What was declared has the verdict of the looks, what holds most of it is a lead, and
// intervals of a recording that ended early are wider.
func TestStopped(t *testing.T) {
	model := runtest.NewModel(4, 1, 0.02)
	base, head := model.Sides(8, false, 0, map[int]float64{0: 1.5})
	compare := func(s *Stopped) *Event {
		t.Helper()
		c, err := Compare(base, head, Options{Stopped: s})
		if err != nil {
			t.Fatal(err)
		}
		e := c.Events[0]
		if s != nil && s.Total != nil && strings.Contains(strings.Join(c.Warnings, "\n"), "a lead") {
			t.Errorf("no function holds most of the total: %q", c.Warnings)
		}
		return &e
	}
	whole, repeated := compare(nil), stats.Interval{Lo: 0.9, Hi: 1.4}
	if whole.Total.Verdict != verdict.Regressed || whole.Total.Capped {
		t.Fatalf("without looks the total is %s", whole.Total.Verdict)
	}
	for _, test := range []struct {
		name    string
		stopped Stopped
		total   verdict.Verdict
		capped  bool // the total
		leads   bool // f1 by its own cost
		wider   bool
	}{
		{"decided early", Stopped{Pairs: 8, Cap: 40, Total: &Decided{verdict.Improved, repeated}}, verdict.Improved, false, false, true},
		{"left open, as many as planned", Stopped{Pairs: 8, Cap: 8, Total: &Decided{verdict.Inconclusive, repeated}}, verdict.Inconclusive, false, false, false},
		{"another question", Stopped{Pairs: 8, Cap: 40}, verdict.Regressed, true, true, true},
		{"a function", Stopped{Pairs: 8, Cap: 40, Functions: map[string]*Decided{"f0 (program)": {verdict.Unchanged, repeated}}}, verdict.Regressed, true, false, true},
	} {
		e := compare(&test.stopped)
		if e.Total.Verdict != test.total || e.Total.Capped != test.capped || (e.Total.Repeated != nil) != (test.stopped.Total != nil) {
			t.Errorf("%s: total %s, capped %v, repeated %v", test.name, e.Total.Verdict, e.Total.Capped, e.Total.Repeated)
		}
		if wider := e.Total.CI.Lo < whole.Total.CI.Lo && e.Total.CI.Hi > whole.Total.CI.Hi; wider != test.wider {
			t.Errorf("%s: interval %v, without looks %v", test.name, e.Total.CI, whole.Total.CI)
		}
		for i := range e.Functions {
			switch f := &e.Functions[i]; f.Name {
			case "f0":
				if d := test.stopped.Functions[f.ID()]; d != nil && f.Self.Verdict != d.Verdict {
					t.Errorf("%s: f0 is %s", test.name, f.Self.Verdict)
				}
			case "f1":
				if f.Self.Capped != test.leads {
					t.Errorf("%s: f1 is capped: %v", test.name, f.Self.Capped)
				}
			case "main":
				if test.stopped.Total != nil && !f.Total.Capped {
					t.Errorf("%s: main, which holds the total, is not capped", test.name)
				}
			}
		}
	}
}
