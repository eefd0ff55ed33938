package diff

import (
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

func TestNext(t *testing.T) {
	inputs := []string{"before", "after dir", "--ops", "3"}
	for name, test := range map[string]struct {
		runs  int
		each  map[int]float64
		lines bool
		bare  bool // f1 is code without names
		want  string
	}{
		"the worst, by lines":              {6, map[int]float64{1: 1.5, 2: 0.3}, true, false, "profdiff diff before 'after dir' --ops 3 --focus '^f1$' --lines"},
		"the largest, if none is worse":    {6, map[int]float64{1: 0.9, 2: 0.3}, false, false, "profdiff diff before 'after dir' --ops 3 --focus '^f2$' --callers"},
		"record on, if nothing is decided": {6, nil, true, false, "profdiff record --before CMD --after CMD --until decided -o runs"},
		"not of code without names":        {6, map[int]float64{1: 1.5, 2: 0.3}, false, true, "profdiff diff before 'after dir' --ops 3 --focus '^f2$' --callers"},
		"nothing but code without names":   {6, map[int]float64{1: 1.5}, false, true, ""},
		"one run a side":                   {1, map[int]float64{1: 1.5}, true, false, "profdiff record --before CMD --after CMD --runs 10 -o runs"},
	} {
		base, head := runtest.NewModel(6, 5, 0.01).Sides(test.runs, false, 0, test.each)
		d := New(comparison(t, base, head, compare.Options{Normalize: compare.None, Margin: 0.001}), Parts{})
		for i := range d.Events[0].Functions {
			if f := &d.Events[0].Functions[i]; test.bare && f.Name == "f1" {
				f.Name = run.UnknownFunctionName(f.DSO)
			}
		}
		if got := d.Next(Session{Inputs: inputs, Lines: func(string) bool { return test.lines }}); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestPattern(t *testing.T) {
	for name, want := range map[string]string{
		"main": "^main$",
		"github.com/klauspost/compress/zstd.(*Decoder).DecodeAll.func1":                                                `/zstd\.\(\*Decoder\)\.DecodeAll\.func1`,
		"std::vector<std::pair<int, Foo<char>>, std::allocator<X>>::push_back(std::pair<int, Foo<char>> const&) const": `std::vector<.*>::push_back\(.*\) const`,
		"operator<(Foo const&)": `^operator<\(Foo const&\)$`,
	} {
		if got := pattern(name); got != want {
			t.Errorf("pattern(%q) = %q, want %q", name, got, want)
		}
	}
}
