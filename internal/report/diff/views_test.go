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
		{Change{Tested: true, Verdict: verdict.Unchanged}, "~"},
		{Change{Tested: true, Verdict: verdict.Inconclusive, RunsNeeded: 12}, "?"},
		{Change{Tested: true, Verdict: verdict.Inconclusive, Lead: verdict.Less, Distance: 6}, "▽"},
		{Change{Verdict: verdict.Inconclusive}, "-"},
	} {
		if got := changeMark(&test.change); got != test.want {
			t.Errorf("%+v: %q, want %q", test.change, got, test.want)
		}
	}
}
