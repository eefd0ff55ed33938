package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWord(t *testing.T) {
	for v := range signs {
		for _, of := range []Measure{Time, Amount, Quality} {
			if v.Word(of) == "" {
				t.Errorf("%s has no word as %d", v, of)
			}
		}
	}
	got := []string{Improved.Word(Time), Improved.Word(Amount), Regressed.Word(Quality), Unchanged.Word(Time), Inconclusive.Word(Amount), Verdict("").Word(Time)}
	if got := Inconclusive.Title(Time); got != "Can't tell yet" {
		t.Errorf("at the start of a sentence it is %q", got)
	}
	if diff := cmp.Diff([]string{"faster", "less", "worse", "same", "can't tell yet", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTell(t *testing.T) {
	for want, counts := range map[string]map[Verdict]int{
		"1 less, 2 more, 3 same within 2.0%, 4 can't tell yet (?)":                {Improved: 1, Regressed: 2, Unchanged: 3, Inconclusive: 4},
		"0 less, 0 more, 1 gone, 2 new, 0 same within 2.0%, 0 can't tell yet (?)": {Removed: 1, New: 2},
	} {
		if got := Tell(counts, Amount, "2.0%"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
