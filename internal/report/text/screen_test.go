package text

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fitted is what a table looks like on a screen of a width.
func fitted(t *testing.T, tb *Table, width int) (lines string, absent []string) {
	t.Helper()
	var b strings.Builder
	s := NewScreen(&b, width, false)
	if err := tb.Write(s); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String(), s.Absent()
}

func TestTableFits(t *testing.T) {
	make := func() *Table {
		tb := &Table{Right: []bool{true, true}, Names: []int{3}, Spare: [][]int{{1}, {2}}, Least: 12}
		tb.Add("ms", "samples", "file", "function")
		tb.Add("12.50", "1,234", "libfoo.so", "ns::Class::method(int, char)")
		tb.Add("3", "12", "漢字.so", "short")
		return tb
	}
	for _, test := range []struct {
		width  int
		want   string
		absent []string
	}{
		{0, `   ms  samples  file       function
12.50    1,234  libfoo.so  ns::Class::method(int, char)
    3       12  漢字.so    short
`, nil},
		{40, `   ms  samples  file       function
12.50    1,234  libfoo.so  Class::method
    3       12  漢字.so    short
`, nil},
		{32, `   ms  file       function
12.50  libfoo.so  Class::method
    3  漢字.so    short
`, []string{"samples"}},
		{22, `   ms  function
12.50  Class::method
    3  short
`, []string{"samples", "file"}},
		{10, `   ms  function
12.50  method
    3  short
`, []string{"samples", "file"}},
	} {
		got, absent := fitted(t, make(), test.width)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("width %d: %s", test.width, diff)
		}
		if diff := cmp.Diff(test.absent, absent); diff != "" {
			t.Errorf("width %d: %s", test.width, diff)
		}
	}
}

func TestTableOfSentences(t *testing.T) {
	tb := Table{Prose: true}
	tb.Add("warning", "one run took 12.5 ms longer than the others, which is much")
	tb.Head("a line of its own that is too wide to stand in one")
	tb.Add("path", "/usr/lib/debug/.build-id/00/1122334455667788.debug")
	got, _ := fitted(t, &tb, 32)
	want := `warning  one run took 12.5 ms
         longer than the others,
         which is much
a line of its own that is too
  wide to stand in one
path     /usr/lib/debug/
         .build-id/00/
         1122334455667788.debug
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestScreen(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b, 20, true)
	for _, part := range []string{"  a line ", "in parts that is too wide\nnext", "\n", s.Paint(Red, "red words are as wide as others"), "\nrest"} {
		if _, err := s.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Verbatim("what is copied may be as wide as it likes\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "  a line in parts\n    that is too wide\nnext\n\x1b[31mred words are as\n  wide as others\x1b[0m\nwhat is copied may be as wide as it likes\nrest"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if got := ScreenOf(&b).Paint(Red, "plain"); got != "plain" {
		t.Errorf("%q is painted on what is no screen", got)
	}
}

func TestRelative(t *testing.T) {
	for ratio, want := range map[float64]string{
		1: "0.0%", 0.99999: "0.0%", 1.388: "+38.8%", 0.4: "-60.0%", 0: "-100%", 1e-9: "-100%", 7.598: "+659.8%", 18.498: "×18.5", 434: "×434",
		49700: "×49.70k", math.Inf(1): "∞",
	} {
		if got := Relative(ratio); got != want {
			t.Errorf("Relative(%v) = %q, want %q", ratio, got, want)
		}
	}
	if got := Relative(math.NaN()); got != "-" {
		t.Errorf("Relative(NaN) = %q", got)
	}
}
