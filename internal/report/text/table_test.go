package text

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWeight(t *testing.T) {
	for _, test := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "count", "0"},
		{7, "count", "7"},
		{999, "count", "999"},
		{1234, "count", "1.234 k"},
		{9999999, "count", "10.00 M"},
		{14.21e9, "cpu-cycles", "14.21 G"},
		{2.5, "count", "2.500"},
		{-1500, "count", "-1.500 k"},
		{0, "nanoseconds", "0 ns"},
		{999, "nanoseconds", "999 ns"},
		{52e6, "nanoseconds", "52.00 ms"},
		{344124304, "nanoseconds", "344.1 ms"},
		{1.5e12, "nanoseconds", "1500 s"},
	} {
		if got := Weight(test.v, test.unit); got != test.want {
			t.Errorf("formatWeight(%v, %s) = %q, want %q", test.v, test.unit, got, test.want)
		}
	}
}

func TestRatio(t *testing.T) {
	for v, want := range map[float64]string{
		0: "gone", 1: "1.000", 0.93456: "0.935", 12.5: "12.500", 5000: ">1000", 0.0001: "<0.001", math.Inf(1): "new",
	} {
		if got := Ratio(v); got != want {
			t.Errorf("formatRatio(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Ratio(math.NaN()); got != "-" {
		t.Errorf("formatRatio(NaN) = %q", got)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -999: "-999"} {
		if got := Count(n); got != want {
			t.Errorf("formatCount(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	tb := Table{Right: []bool{true, false}}
	tb.Add("n", "name", "last")
	tb.Add("10", "µ", "x\n\x1b[2J")
	tb.Add("2", "long name")
	var b strings.Builder
	if err := tb.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := " n  name       last\n10  µ          x⟨U+000A⟩⟨U+001B⟩[2J\n 2  long name\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestMarkdownSentence(t *testing.T) {
	for sentence, want := range map[string]string{
		"CPU time fell by 9.7% [9.7% to 9.8%]: 7.545 → 6.812.":          "CPU time fell by 9.7% [9.7% to 9.8%]: 7.545 → 6.812.",
		"Most of it is heap_sift_up (3 ms → 1 ms): -2 ms of 200 Mbit/s": "Most of it is `heap_sift_up` (3 ms → 1 ms): -2 ms of 200 Mbit/s",
		"std::map<int> has <b>, @everyone, #1 and a|b.":                 "`std::map<int>` has `<b>`, `@everyone`, `#1` and `a|b`.",
		"": "",
	} {
		if got := MarkdownSentence(sentence, 400); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := MarkdownStory("can't tell yet", []string{"A.", "B."}); got != "**Can't tell yet:** A. B." {
		t.Error(got)
	}
}
