package text

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "std::vector<int, A>::push_back(int&&)", "std::vector<int, A>::push_back(int&&)"},
		{"letters", "Größe_日本語", "Größe_日本語"},
		{"markup stays, it is escaped where it is shown", "</script><img src=x onerror=alert(1)>", "</script><img src=x onerror=alert(1)>"},
		{"NUL", "a\x00b", "a⟨U+0000⟩b"},
		{"lines", "a\nb\r\tc", "a⟨U+000A⟩b⟨U+000D⟩⟨U+0009⟩c"},
		{"line separators", "a\u2028b\u2029c\u0085d", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d"},
		{"reordered", "a\u202egnp.exe", "a⟨U+202E⟩gnp.exe"},
		{"isolates", "\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"},
		{"invisible", "a\u200bb\u00adc\ufeff\u3164", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩⟨U+3164⟩"},
		{"tags", "a\U000e0041", "a⟨U+E0041⟩"},
		{"no UTF-8", "a\xff\xed\xa0\x80b", "a⟨0xFF⟩⟨0xED⟩⟨0xA0⟩⟨0x80⟩b"},
		{"replaced before", "a\ufffdb", "a\ufffdb"},
		{"not a character", "a\ufffeb", "a⟨U+FFFE⟩b"},
		{"empty", "", ""},
	} {
		if got := Clean(test.in); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCleanLine(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"\t\tif (a <\tb) {\t// c", "\t\tif (a <\tb) {\t// c"},
		{"\ta\x00\u202eb\v", "\ta⟨U+0000⟩⟨U+202E⟩b⟨U+000B⟩"},
		{"no tab\r", "no tab⟨U+000D⟩"},
	} {
		if got := CleanLine(test.in); got != test.want {
			t.Errorf("%q: %q, want %q", test.in, got, test.want)
		}
	}
	for _, s := range []string{strings.Repeat("\t", 10_000), strings.Repeat("x\t\xff", 5000)} {
		got := CleanLine(s)
		if len(got) > maxText || strings.Contains(got, "\t") || CleanLine(got) != got {
			t.Errorf("%d bytes become %d: %q…", len(s), len(got), got[:40])
		}
	}
}

func TestCleanBounds(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 100_000), strings.Repeat("\u202e", 50_000), strings.Repeat("\xff", 100_000)} {
		got := Clean(s)
		if len(got) > maxText || !strings.Contains(got, "bytes in all)") {
			t.Errorf("%d bytes become %d: …%q", len(s), len(got), got[max(0, len(got)-40):])
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\u202egnp.exe\u202c", "nul\x00nul", "surrogate \xed\xa0\x80 half", strings.Repeat("\xff", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not valid UTF-8", got)
		}
		for _, r := range got {
			if !visible(r) && r != utf8.RuneError {
				t.Fatalf("%q has %U", got, r)
			}
		}
		if len(got) > maxText {
			t.Fatalf("%d bytes", len(got))
		}
		if again := Clean(got); again != got {
			t.Fatalf("cleaned again it is %q, was %q", again, got)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(data), "<>&") {
			t.Fatalf("JSON has markup: %s", data)
		}
	})
}

func TestPrintable(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for in, want := range map[string]string{
		long:                        long,
		long + "\x1b[31m":           long + "⟨U+001B⟩[31m",
		"cpu\n::error::x\r\x1b[31m": "cpu⟨U+000A⟩::error::x⟨U+000D⟩⟨U+001B⟩[31m",
		"±5.3% µs → ▽ ⟨U+0009⟩":     "±5.3% µs → ▽ ⟨U+0009⟩",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%.40q: %.40q", in, got)
		}
	}
}
