package text

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestElide has its cases in a file, by which the script of the page is tested as well.
func TestElide(t *testing.T) {
	data, err := os.ReadFile("testdata/elide.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		room, err := strconv.Atoi(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		got := Elide(cells[0], room)
		if got != cells[2] {
			t.Errorf("Elide(%q, %d)\n got %q\nwant %q", cells[0], room, got, cells[2])
		}
	}
}

// FuzzElide checks that no name is wider than its room, or broken.
func FuzzElide(f *testing.F) {
	data, err := os.ReadFile("testdata/elide.tsv")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(line, "\t")
		f.Add(name, 20)
	}
	f.Add("operator operator() operator<(", 3)
	f.Add("a<b::c(d", 5)
	f.Add("e\u0301e\u0301e\u0301::漢字漢字", 5)
	f.Fuzz(func(t *testing.T, name string, room int) {
		room = max(-1, room%200)
		name = Clean(name) // as all that is written
		got := Elide(name, room)
		if Width(got) > max(0, room) {
			t.Errorf("Elide(%q, %d) = %q is %d columns wide", name, room, got, Width(got))
		}
		if !utf8.ValidString(got) {
			t.Errorf("Elide(%q, %d) = %q is no UTF-8", name, room, got)
		}
		if Width(name) <= room && got != name {
			t.Errorf("Elide(%q, %d) = %q, which had room", name, room, got)
		}
		if room > 0 && name != "" && got == "" {
			t.Errorf("Elide(%q, %d) is empty", name, room)
		}
	})
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "→ µs": 4, "漢字": 4, "ﾊﾝｶｸ": 4, "e\u0301": 1, "한국어": 6, "…": 1, "▽": 1, "△": 1, "±": 1, "🎉": 2, "⟨U+0009⟩": 8,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}
