package align

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// localFunctions makes functions of "name@what" that are told apart by what, and of "name".
func localFunctions(names ...string) (fns []Function) {
	for _, name := range names {
		f := Function{Name: name, DSO: "prog", Weight: 0.1, Samples: 100}
		if _, f.Apart, _ = strings.Cut(name, "@"); f.Apart == "plt" {
			f.Apart = ""
		}
		fns = append(fns, f)
	}
	return fns
}

func TestNamesakes(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head []string
		want       []string
	}{
		{
			"by file",
			[]string{"f@a.c", "f@b.c"},
			[]string{"f@b.c", "f@a.c"},
			[]string{"exact: f@a.c -> f@a.c", "exact: f@b.c -> f@b.c"},
		},
		{
			"a file more",
			[]string{"f@a.c"},
			[]string{"f@b.c", "f@a.c"},
			[]string{"exact: f@a.c -> f@a.c", "added: - -> f@b.c"},
		},
		{
			"a file with another name",
			[]string{"f@a.c", "f@b.c"},
			[]string{"f@a.c", "f@c.c"},
			[]string{"exact: f@a.c -> f@a.c", "normalized: f@b.c -> f@c.c"},
		},
		{
			"parts of each",
			[]string{"f@a.c", "f@b.c"},
			[]string{"f@a.c", "f@b.c", "f.cold@a.c", "f.part.0@b.c"},
			[]string{"exact: f@a.c -> f@a.c; normalized: f@a.c -> f.cold@a.c", "exact: f@b.c -> f@b.c; normalized: f@b.c -> f.part.0@b.c"},
		},
		{
			"one side does not tell",
			[]string{"f"},
			[]string{"f@a.c", "f@b.c", "g"},
			[]string{"normalized: f -> f@a.c; normalized: f -> f@b.c", "added: - -> g"},
		},
		{
			"the other side does not tell",
			[]string{"f@a.c", "f@b.c"},
			[]string{"f"},
			[]string{"normalized: f@a.c -> f; normalized: f@b.c -> f"},
		},
		{
			"a global function and a static one",
			[]string{"f", "f@a.c"},
			[]string{"f@a.c", "f"},
			[]string{"exact: f -> f", "exact: f@a.c -> f@a.c"},
		},
		{
			"the same addresses",
			[]string{"f@0x10", "f@0x20"},
			[]string{"f@0x20", "f@0x10"},
			[]string{"exact: f@0x10 -> f@0x10", "exact: f@0x20 -> f@0x20"},
		},
		{
			"some of the same addresses",
			[]string{"f@0x10", "f@0x20"},
			[]string{"f@0x20", "f@0x30"},
			[]string{"normalized: f@0x10 -> f@0x20", "normalized: f@0x20 -> f@0x30"},
		},
		{
			"other addresses in order",
			[]string{"f@0x20", "f@0x8"},
			[]string{"f@0x10", "f@0x30"},
			[]string{"normalized: f@0x20 -> f@0x30", "normalized: f@0x8 -> f@0x10"},
		},
		{
			"stubs without a name",
			[]string{"*ABS*+0x10@plt", "*ABS*+0x20@plt"},
			[]string{"*ABS*+0x14@plt", "*ABS*+0x24@plt"},
			[]string{"normalized: *ABS*+0x10@plt -> *ABS*+0x14@plt", "normalized: *ABS*+0x20@plt -> *ABS*+0x24@plt"},
		},
		{
			"nobody knows which",
			[]string{"f@0x10", "f@0x20"},
			[]string{"f@0x14", "f@0x24", "f@0x34"},
			[]string{"normalized: f@0x10 -> f@0x14; normalized: f@0x10 -> f@0x24; normalized: f@0x10 -> f@0x34; normalized: f@0x20 -> f@0x14"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := localFunctions(test.base...), localFunctions(test.head...)
			matches, err := Functions(base, head, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, describe(base, head, matches)); diff != "" {
				t.Errorf("matches (-want +got):\n%s", diff)
			}
		})
	}
}
