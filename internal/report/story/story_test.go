package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// changed is a change of time that is decided.
func changed(kind Kind, name string, base, head, lo, hi float64) Change {
	v := verdict.Regressed
	if head < base {
		v = verdict.Improved
	}
	return Change{
		About: About{Kind: kind, Event: "cpu-clock", Name: name}, Measure: verdict.Time, Unit: "nanoseconds", Label: name,
		Base: base, Head: head, Ratio: head / base, CI: text.Interval{Lo: lo, Hi: hi}, Verdict: v, Samples: 1000,
	}
}

// open is a change of time that is not decided.
func open(kind Kind, name string, base, head, lo, hi float64) Change {
	c := changed(kind, name, base, head, lo, hi)
	c.Verdict, c.RunsNeeded = verdict.Inconclusive, 22
	return c
}

func event(total Change, parts ...Change) Event {
	return Event{Label: "CPU time", Per: "per run", CPU: true, Total: total, Parts: parts}
}

func TestTell(t *testing.T) {
	total := changed(Total, "", 100e6, 90e6, 0.88, 0.92)
	undecided := open(Total, "", 100e6, 101e6, 0.98, 1.03)
	few := changed(Function, "tiny", 100e3, 900e3, 4, 20)
	few.Samples = 5
	wait := Waiting{
		Change: changed(Wait, "IncrementDisableThreadFlip", 3e6, 1e3, 0, 0.02), Thread: "main", Main: true,
		For: "the collector", Why: "flip",
	}
	for name, test := range map[string]struct {
		facts Facts
		word  string
		want  []string
	}{
		"total, explained and contradicted": {
			Facts{Events: []Event{event(total, changed(Function, "a", 50e6, 38e6, 0.7, 0.8), changed(Function, "b", 1e6, 3e6, 2, 4), few)}},
			"faster",
			[]string{
				"CPU time per run fell by 10.0% [8.0% to 12.0%]: 100.0 ms → 90.00 ms.",
				"Most of it is a (50.00 ms → 38.00 ms): -12.00 ms, all others +2.000 ms.",
				"Against it, b costs 3 times [2 to 4] as much: 1.000 ms → 3.000 ms.",
			},
		},
		"a wait that is larger than what CPU time does": {
			Facts{Events: []Event{event(undecided)}, Waits: []Waiting{wait}},
			"faster",
			[]string{
				"main no longer waits for the collector (flip): 3.000 ms → 1.000 µs per run, at most 2.0% of it.",
				"CPU time per run can't be told apart yet: +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms; about 22 runs a side would decide.",
			},
		},
		"nothing but a part": {
			Facts{Events: []Event{event(undecided, changed(Function, "a", 20e6, 22e6, 1.05, 1.15))}},
			"slower",
			[]string{
				"a costs 10.0% [5.0% to 15.0%] more: 20.00 ms → 22.00 ms.",
				"CPU time per run can't be told apart yet: +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms; about 22 runs a side would decide.",
			},
		},
		"tiny counts are no news": {
			Facts{Events: []Event{event(undecided, few)}},
			"can't tell yet",
			[]string{"CPU time per run can't be told apart yet: +1.0% [-2.0% to +3.0%], 100.0 ms → 101.0 ms; about 22 runs a side would decide."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Tell(&test.facts)
			var list []string
			for _, s := range got.Sentences {
				list = append(list, s.Text)
			}
			if diff := cmp.Diff(test.want, list); diff != "" {
				t.Error(diff)
			}
			if got.Word != test.word {
				t.Errorf("word %q, want %q", got.Word, test.word)
			}
		})
	}
}
