package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/compare"
)

// TestFramesOfShares checks which frames are marked where the total has no verdict: the
// function that grew, and neither those whose share fell for that nor what calls all.
func TestFramesOfShares(t *testing.T) {
	side := func(grown float64) (specs []string) {
		for i := range 10 {
			var b strings.Builder
			for f := range 8 {
				n := float64(200 + (7*i+3*f)%5)
				if f == 0 {
					n *= grown
				}
				fmt.Fprintf(&b, "cpu-cycles one app!main;app!f%d%s\n", f, strings.Repeat(" 10", int(n)))
			}
			specs = append(specs, b.String())
		}
		return specs
	}
	for _, test := range []struct {
		mode compare.Mode
		want []string
	}{
		{compare.Total, []string{"f0"}},
		{compare.None, []string{"[everything]", "main", "f0"}},
	} {
		c := comparison(t, sideOf(t, side(1)...), sideOf(t, side(1.4)...), compare.Options{Normalize: test.mode})
		e := &c.Events[0]
		f, _ := frames(c, 0)
		var got []string
		for i, flags := range f.Flags {
			name := "[everything]"
			if f.Level[i] > 0 {
				name = e.Functions[f.Function[i]].Name
			}
			if flags&Shrank != 0 {
				name = "less of " + name
			}
			if flags&(Grew|Shrank) != 0 {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q are marked, want %q (%s)", test.mode, got, test.want, e.Withheld)
		}
	}
}
