package diff

import (
	"testing"

	"profdiff/internal/verdict"
)

func TestChangeMark(t *testing.T) {
	for _, test := range []struct {
		change Change
		want   string
	}{
		{Change{Tested: true, Verdict: verdict.Improved}, " "},
		{Change{Tested: true, Verdict: verdict.Unchanged}, "="},
		{Change{Tested: true, Verdict: verdict.Inconclusive, RunsNeeded: 12}, "?"},
		{Change{Tested: true, Verdict: verdict.Inconclusive, Lead: verdict.Less, Distance: 6}, "▽"},
		{Change{Verdict: verdict.Inconclusive}, "-"},
	} {
		if got := changeMark(&test.change); got != test.want {
			t.Errorf("%+v: %q, want %q", test.change, got, test.want)
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, test := range []struct {
		event Event
		word  string
	}{
		{Event{Name: "cpu-cycles", Unit: "cpu-cycles"}, "slower"},
		{Event{Name: "cpu-cycles", Unit: "cpu-cycles", Normalization: Normalization{Mode: OfTotal}}, "more"},
		{Event{Name: "off-cpu", Unit: "nanoseconds"}, "more"},
		{Event{Name: "delay", Unit: "nanoseconds"}, "more"},
		{Event{Name: "branch-misses", Unit: "count"}, "more"},
		{Event{Name: "alloc_space", Unit: "bytes"}, "more"},
	} {
		if got := verdict.Regressed.Word(test.event.Measure()); got != test.word {
			t.Errorf("%s: %q, want %q", test.event.Name, got, test.word)
		}
	}
}
