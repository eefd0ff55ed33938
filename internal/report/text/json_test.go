package text

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWriteJSON writes what would reorder or hide text in a terminal, an editor or a review: it is escaped, and
// programs read what was there.
func TestWriteJSON(t *testing.T) {
	in := map[string]string{"a\u202egnp.exe": "Größe 日本語 <&> \u2066x\u2069\u200b\ufeff\x7f\u0085\U000e0041 \ufffd 🙂\t\n\x1b[31m"}
	const want = "{\n  \"a\\u202egnp.exe\": \"Größe 日本語 <&> \\u2066x\\u2069\\u200b\\ufeff\\u007f\\u0085\\udb40\\udc41 \ufffd 🙂\\t\\n\\u001b[31m\"\n}\n"
	var lines, line bytes.Buffer
	if err := WriteJSON(&lines, in); err != nil || lines.String() != want {
		t.Errorf("got %v %s, want %s", err, &lines, want)
	}
	short := strings.NewReplacer("{\n  ", "{", "\": ", "\":", "\n}", "}").Replace(want)
	if err := WriteJSONLine(&line, in); err != nil || line.String() != short {
		t.Errorf("got %v %s, want %s", err, &line, short)
	}
	for _, written := range []*bytes.Buffer{&lines, &line} {
		var back map[string]string
		if err := json.Unmarshal(written.Bytes(), &back); err != nil || len(back) != 1 {
			t.Fatal(err, back)
		}
		for k, v := range in {
			if back[k] != v {
				t.Errorf("%q was read as %q", v, back)
			}
		}
	}
}

func FuzzWriteJSON(f *testing.F) {
	f.Add("a\u202eb", "\xff\U000e0041")
	f.Fuzz(func(t *testing.T, a, b string) {
		in := []string{strings.ToValidUTF8(a, "\ufffd"), strings.ToValidUTF8(b, "\ufffd")}
		var out bytes.Buffer
		if err := WriteJSON(&out, in); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if !visible(r) && r != '\n' || r == utf8.RuneError && !strings.ContainsRune(a+b, r) && utf8.ValidString(a+b) {
				t.Errorf("%U is in %q", r, &out)
			}
		}
		var back []string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || len(back) != 2 || back[0] != in[0] || back[1] != in[1] {
			t.Errorf("%q was read as %q: %v", in, back, err)
		}
	})
}

// TestNumber checks that what JSON has no number for is null, and is read again as missing.
func TestNumber(t *testing.T) {
	for _, test := range []struct {
		in   any
		want string
	}{
		{Number(0.5), "0.5"},
		{Number(-1e30), "-1e+30"},
		{Missing, "null"},
		{Number(math.Inf(1)), "null"},
		{Interval{0.9, 1.25}, "[0.9,1.25]"},
		{Interval{0, math.Inf(1)}, "[0,null]"},
		{Interval{math.NaN(), math.NaN()}, "[null,null]"},
	} {
		got, err := json.Marshal(test.in)
		if err != nil || string(got) != test.want {
			t.Errorf("%v is %s, want %s (%v)", test.in, got, test.want, err)
		}
	}
	var n Number
	if err := json.Unmarshal([]byte("null"), &n); err != nil || n.Known() {
		t.Errorf("null is %v (%v)", n, err)
	}
	var i Interval
	if err := json.Unmarshal([]byte("[0.5,null]"), &i); err != nil || i.Lo != 0.5 || !math.IsNaN(i.Hi) {
		t.Errorf("the interval is %v (%v)", i, err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &n); err == nil {
		t.Error("a text was read as a number")
	}
}

func TestInterval(t *testing.T) {
	for i, want := range map[Interval]string{
		{0, math.Inf(1)}:   "[unknown]",
		{0.5, math.Inf(1)}: "[0.500, ∞]",
		{0, 0.98}:          "[0, 0.980]",
		{1, 2000}:          "[1.000, >1000]",
	} {
		if got := i.String(); got != want {
			t.Errorf("%v: %s, want %s", [2]float64{i.Lo, i.Hi}, got, want)
		}
	}
}
