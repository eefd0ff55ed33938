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
	if diff := cmp.Diff([]string{"faster", "less", "worse", "same", "can't tell yet", ""}, got); diff != "" {
		t.Error(diff)
	}
}
