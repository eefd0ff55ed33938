package budget

import (
	"regexp"
	"strings"
	"testing"
)

func TestGlobMatch(t *testing.T) {
	for _, test := range []struct {
		glob, text string
		want       bool
	}{
		{"main", "main", true},
		{"main", "main2", false},
		{"codec::DecodeFrame(*)", "codec::DecodeFrame(int, char*)", true},
		{"codec::*", "codec::a::b", true},
		{"*Frame*", "DecodeFrame", true},
		{"runtime.(*mheap).alloc", "runtime.(*mheap).alloc", true},
		{"operator[]", "operator[]", true},
		{"a*b*c", "axxbxxbc", true},
		{"a*b*c", "axxbxxb", false},
		{"?", "", false},
		{"", "", true},
	} {
		if got := globMatch(test.glob, test.text); got != test.want {
			t.Errorf("globMatch(%q, %q) = %v, want %v", test.glob, test.text, got, test.want)
		}
	}
}

func TestFileMatch(t *testing.T) {
	for _, test := range []struct {
		glob, path string
		want       bool
	}{
		{"src/*.c", "/build/src/a.c", true},
		{"src/*.c", "src/a/b.c", false},
		{"src/**", "/build/src/a/b.c", true},
		{"src/**/b.c", "src/b.c", true},
		{"src/**/b.c", "src/x/y/b.c", true},
		{"src/**/b.c", "src/xb.c", false},
		{"src/**/x/*.c", "src/a/x/b/x/c.c", true},
		{"src/**/x/*.c", "src/a/x/b/c.c", false},
		{"/src/a.c", "/src/a.c", true},
		{"/src/a.c", "/build/src/a.c", false},
		{"src/?.c", "src//.c", false},
		{"a.c", "ba.c", false},
		{"src/a.c", `C:\work\src\a.c`, true},
		{"**", "", false},
	} {
		if got := fileMatch(test.glob, test.path); got != test.want {
			t.Errorf("fileMatch(%q, %q) = %v, want %v", test.glob, test.path, got, test.want)
		}
	}
}

// FuzzGlobMatch compares globs with regular expressions.
func FuzzGlobMatch(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Fuzz(func(t *testing.T, glob, text string) {
		for _, r := range glob + text {
			if r >= 0x80 || r < ' ' {
				return
			}
		}
		re := regexp.MustCompile("^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(glob)) + "$")
		if got, want := globMatch(glob, text), re.MatchString(text); got != want {
			t.Errorf("globMatch(%q, %q) = %v, want %v", glob, text, got, want)
		}
	})
}

func TestSpellings(t *testing.T) {
	for _, test := range []struct{ name, pattern string }{
		{"codec::Idct8x8(short*)", "codec::Idct8x8"},
		{"codec::Idct8x8(short*) [clone .part.0]", "codec::Idct8x8"},
		{"hash_key.constprop.0", "hash_key"},
		{"(anonymous namespace)::f(int)", "f"},
		{"a::operator()(int) const", "a::operator()"},
		{"runtime.(*mheap).alloc", "runtime.(*mheap).alloc"},
		{"f<g(int)>(h)", "f<g(int)>"},
	} {
		if !mustCompile(test.pattern, false).match(spellings(test.name, "_Zx")...) {
			t.Errorf("%q does not match %q, which is spelt %q", test.pattern, test.name, spellings(test.name, "_Zx"))
		}
	}
}
