package diff

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

func textOf(t *testing.T, c *compare.Comparison, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, New(c, Parts{}), opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDiffFocus checks what is shown of the functions that the user named, and that it
// is said if there is nothing to show.
func TestDiffFocus(t *testing.T) {
	spec := `
cpu-cycles main app!main;app!f;app!g 100 100
cpu-cycles main app!main;app!k 10
`
	for _, test := range []struct {
		focus       string
		total       bool
		want, lacks string
	}{
		{"^g$", false, "  app  g\n", "app  k"},
		{"^f$", false, "(of the functions that match --focus, 1 only call others: see --total)\n", "app  "},
		{"^f$", true, "  app  f\n", "app  g"},
		{"nothing", false, "no function matches --focus nothing\n", "app  "},
		{"nothing", true, "(no function that matches --focus has samples)\n", "app  "},
	} {
		opt := compare.Options{Normalize: compare.None, Focus: []*regexp.Regexp{regexp.MustCompile(test.focus)}}
		c := comparison(t, sideOf(t, spec), sideOf(t, spec+"cpu-cycles main app!main;app!k 10\n"), opt)
		got := textOf(t, c, Options{Total: test.total})
		if !strings.Contains(got, test.want) || strings.Contains(got, test.lacks) {
			t.Errorf("--focus %s: %q is missing, or %q is not, in\n%s", test.focus, test.want, test.lacks, got)
		}
	}
	var b bytes.Buffer
	c := comparison(t, sideOf(t, spec), sideOf(t, spec+"cpu-cycles main app!main;app!k 10\n"),
		compare.Options{Normalize: compare.None, Focus: []*regexp.Regexp{regexp.MustCompile("nothing")}})
	if err := WriteNeighbors(&b, New(c, Parts{Neighbors: true}), Options{}); err != nil || !strings.HasSuffix(b.String(), noFocus+"\n") {
		t.Errorf("callers of nothing, %v:\n%s", err, b.String())
	}
}

// TestDiffCounts checks that what is counted is what the table is of, and that costs of
// which one is part of another are not added up.
func TestDiffCounts(t *testing.T) {
	side := func(n int) (specs []string) {
		for i := range 4 {
			specs = append(specs, fmt.Sprintf("cpu-cycles one app!main;app!f %d\ncpu-cycles two app!main;app!g 90\ncpu-cycles three app!main;app!g %d\n", n+i, 50+i))
		}
		return specs
	}
	opt := compare.Options{Normalize: compare.None, GroupBy: []run.GroupBy{run.ByThread}}
	c := comparison(t, sideOf(t, side(100)...), sideOf(t, side(200)...), opt)
	for _, test := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "2 of 3 functions tested:"},
		{Options{Total: true}, "3 of 3 functions tested:"},
		{Options{By: run.ByThread}, "3 of 3 threads tested:"},
		{Options{Limit: 1}, "(1 more function, 0 in all)\n"},
		{Options{Limit: 1, Total: true}, "(2 more functions)\n"},
		{Options{Limit: 1, By: run.ByThread}, "(2 more rows, 0 in all)\n"},
	} {
		if got := textOf(t, c, test.opt); !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q is missing in\n%s", test.opt, test.want, got)
		}
	}
}

// TestDeepTree checks that the size of a tree is in proportion to its depth.
func TestDeepTree(t *testing.T) {
	var stack strings.Builder
	depth := 3000
	for i := range depth {
		fmt.Fprintf(&stack, ";app!f%d", i)
	}
	spec := "cpu-cycles main " + stack.String()[1:] + " 10 10\n"
	c := comparison(t, sideOf(t, spec), sideOf(t, spec+spec), compare.Options{Normalize: compare.None})
	var b bytes.Buffer
	if err := WriteTree(&b, New(c, Parts{Tree: &TreeOptions{}})); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 400*depth {
		t.Errorf("a stack of %d frames is printed in %d bytes", depth, b.Len())
	}
	if want := fmt.Sprintf("… depth %d: f%d\n", depth, depth-1); !strings.Contains(b.String(), want) {
		t.Errorf("%q is missing", want)
	}
}
