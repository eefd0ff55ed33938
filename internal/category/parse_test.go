package category

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
	const ok = "categories:\n  - {name: a, match: [x]}\n"
	for _, test := range []struct{ name, file, want string }{
		{"empty file", "", `c.yaml: has no categories: it needs a list "categories:"`},
		{"only a comment", "# nothing\n", `c.yaml: has no categories: it needs a list "categories:"`},
		{"not YAML", "categories: [", "c.yaml:1: is no YAML: sequence end token ']' not found"},
		{"tab", "categories:\n\t- x\n", "c.yaml:2: a tab cannot indent: use spaces"},
		{"a list", "- x\n", "c.yaml:1: the file is a list: it must be a mapping with the keys categories"},
		{"unknown key of the file", "\ncategory: []\n", `c.yaml:2: unknown key "category" in the file: known are categories`},
		{"no list", "categories:\n", `c.yaml:1: has no categories: list them under "categories:"`},
		{"empty list", "categories: []\n", "c.yaml:1: has no categories: list at least one"},
		{"no mapping", "categories: [x]\n", `c.yaml:1: a category is "x": it must be a mapping with the keys name, any, include, match, leaf, syscall, dso, kind, under, thread, process`},
		{"unknown key", "categories:\n- name: a\n  mach: [x]\n", `c.yaml:3: unknown key "mach" in a category: known are name, any, include, match, leaf, syscall, dso, kind, under, thread, process`},
		{"duplicate key", "categories:\n- name: a\n  match: [x]\n  match: [y]\n", `c.yaml:4: key "match" was given in line 3 already: join the two`},
		{"duplicate list", ok + "categories: []\n", `c.yaml:3: key "categories" was given in line 1 already: join the two`},
		{"duplicate name", ok + "  - {name: a, match: [y]}\n", `c.yaml:3: name "a" was given in line 2 already: join the two with any`},
		{"second document", ok + "---\n" + ok, "c.yaml:4: a second document starts here: one file has one"},
		{"broken second document", ok + "---\n[", "c.yaml:4: is no YAML: sequence end token ']' not found"},
		{"no name", "categories:\n- match: [x]\n", `c.yaml:2: category has no name: add "name:"`},
		{"empty name", "categories:\n- {name: '', match: [x]}\n", `c.yaml:2: name "" is empty, or has spaces around it or characters that cannot be printed`},
		{"null name", "categories:\n- {name: , match: [x]}\n", "c.yaml:2: name is empty: it must be text"},
		{"name of the rest", "categories:\n- {name: other, match: [x]}\n", `c.yaml:2: name "other" is that of the samples in no category: leave it out, or choose another name`},
		{"no rule", "categories:\n- {name: a}\n", `c.yaml:2: category "a" has no rule: give one of match, leaf, syscall, dso, kind, under, thread, process, or any`},
		{"two rules", "categories:\n- {name: a, match: [x], leaf: [y]}\n", "c.yaml:2: rule has more than one of match, leaf and syscall: make several of it with any"},
		{"any and a rule", "categories:\n- {name: a, match: [x], any: [{leaf: [y]}]}\n", "c.yaml:2: category has any and a rule beside it: move the rule into any"},
		{"any of nothing", "categories:\n- {name: a, any: []}\n", "c.yaml:2: any is a list: it must be a list of rules"},
		{"any in any", "categories:\n- {name: a, any: [{any: []}]}\n", `c.yaml:2: unknown key "any" in a rule: known are match, leaf, syscall, dso, kind, under, thread, process`},
		{"empty rule", "categories:\n- {name: a, any: [{}]}\n", "c.yaml:2: rule is empty: give one of match, leaf, syscall, dso, kind, under, thread, process"},
		{"under nothing", "categories:\n- {name: a, under: [x]}\n", "c.yaml:2: rule has under, but nothing that is under it: add match, leaf, syscall, dso or kind"},
		{"bad expression", "categories:\n- name: a\n  match:\n  - x\n  - 'a(b'\n", `c.yaml:5: bad regular expression "a(b": missing closing ): "a(b"; see https://go.dev/s/re2syntax`},
		{"empty expression", "categories:\n- name: a\n  match: ['']\n", "c.yaml:3: match has an empty entry, which would match everything: remove it"},
		{"null expression", "categories:\n- name: a\n  match: [~]\n", "c.yaml:3: match has an entry that is empty: it must be text"},
		{"no expression", "categories:\n- name: a\n  match: []\n", "c.yaml:3: match is an empty list: remove it, or list what it is for"},
		{"matches all", "categories:\n- name: a\n  match: ['x*']\n", `c.yaml:3: match has "x*", which matches names of no length and so perhaps all: ask for a character`},
		{"large expression", "categories:\n- name: a\n  match: ['((x{100}){100}){100}']\n", `c.yaml:3: bad regular expression "((x{100}){100}){100}": invalid repeat count: "{100}"; see https://go.dev/s/re2syntax`},
		{"large class", "categories:\n- name: a\n  match: ['(\\pL\\pN){500}']\n", `c.yaml:3: regular expression "(\\pL\\pN){500}" is too large: repeat less`},
		{"kind", "categories:\n- {name: a, kind: [user]}\n", `c.yaml:2: unknown kind "user": known are unknown, native, kernel, kernel module, java, jit, vdso`},
		{"system call", "categories:\n- {name: a, syscall: ['^read$']}\n", `c.yaml:2: "^read$" is no name of a system call: those have small letters, digits and _ only`},
		{"include", "categories:\n- {include: others.yaml}\n", `c.yaml:2: include is "others.yaml": only builtin can be included`},
		{"include twice", "categories:\n- {include: builtin}\n- {include: builtin}\n", "c.yaml:3: builtin is included twice: remove one"},
		{"include with a name", "categories:\n- {include: builtin, name: x}\n", "c.yaml:2: include stands alone: give the category in an entry of its own"},
		{"alias", "categories:\n- &a {name: a, match: [x]}\n- *a\n", "c.yaml:2: categories[0]: anchors and aliases are not read: write it out"},
		{"not UTF-8", "categories:\n# \xff\n", "c.yaml:2: byte 0xff is not UTF-8: convert the file"},
		{"large file", strings.Repeat("#", MaxSize+1), "c.yaml: has 1048577 bytes, of at most 1048576: make several files of it"},
	} {
		s, err := Parse("c.yaml", []byte(test.file))
		if err == nil || s != nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		if err.Error() != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, err, test.want)
		}
	}
	var under strings.Builder
	under.WriteString("categories:\n")
	for i := range mostUnder + 1 {
		fmt.Fprintf(&under, "- {name: c%d, match: [x], under: [y]}\n", i)
	}
	if _, err := Parse("c.yaml", []byte(under.String())); err == nil || err.Error() != "c.yaml:66: more than 64 rules have under: join some" {
		t.Errorf("%d rules with under: %v", mostUnder+1, err)
	}
}

// samplePatterns are of all shapes.
var samplePatterns = []string{
	"^abc$", "^(a|b)c$", "^a?b?c$", "^[a-c]x$", "^abc", "^(foo|bar)::", "^a.*b$", "abc", "a|^b$", "(?i)^abc$",
	"^$", "^\ufffdx$", "^x[\ufff0-\U00010000]", "^(a|b*)c", "^a(bc)+", "^ab$|^cd$", "\\Aab\\z", "^a\\b", "(?m)^a$", "^(?:a|)$", "^a{2,3}b",
	"^_*abc$", "^_*(x_)?a(b|c)$", "^_*abc", "^_*(ab|b).*c", "^_*_a", "^a*abc", "^a*(b|)$", "^_*$", "^_*", "^_*?abc$", "(?i)^_*abc$", "^_+abc$", "^(?:_)*abc$",
	"(^|/)abc$", "(^|/)a(b|c)?$", "(?:^|/)abc$", "(/|^)abc$", "(^|/)$", "(^|/)", "(^|/)abc", "(^|/)a/b$", "(^|/).*c$", "((^|/))abc$", "(?m)(^|/)abc$",
}

func checkPattern(t *testing.T, expr, s string) {
	t.Helper()
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || size(tree, maxPatternSize) > maxPatternSize {
		return
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return
	}
	want := re.MatchString(s)
	p := analyze(expr, tree)
	if got := p.match(s); got != want {
		t.Errorf("%q matches %q: %v, want %v; names %q, prefixes %q", expr, s, got, want, p.names, p.prefixes)
	}
}

func TestPatterns(t *testing.T) {
	for _, expr := range samplePatterns {
		for _, s := range []string{
			"", "a", "b", "c", "ab", "abc", "abcd", "xabc", "ac", "bc", "ax", "ABC", "foo::x", "bar::", "foo", "axxb", "aab", "aaab",
			"cd", "a\nb", "b\na", "\xffx", "\ufffdx", "x\uffff", "x\xff", "abcbc",
			"_", "_a", "__a", "_abc", "___abc", "_ABC", "_ab", "_x_ab", "x_ac", "_abx", "__bxc", "aabc", "aaabc", "aa", "_abcd",
			"/", "/abc", "x/abc", "x/", "x/ab", "x/a", "xabc/", "a/b", "x/a/b", "xa/b", "x\n/abc", "x\nabc", "x/abc\n", "\xff/abc",
		} {
			checkPattern(t, expr, s)
		}
	}
}

// TestSyscalls checks names of system calls as kernels and C libraries have them.
func TestSyscalls(t *testing.T) {
	for _, test := range []struct{ function, kernel, library string }{
		{"read", "", "read"},
		{"sys_read", "read", "sys_read"},
		{"SyS_pread64", "pread64", "SyS_pread64"},
		{"ksys_read", "read", "ksys_read"},
		{"__x64_sys_read", "read", "x64_sys_read"},
		{"__arm64_compat_sys_readv", "readv", "arm64_compat_sys_readv"},
		{"__se_compat_sys_io_submit", "io_submit", "se_compat_sys_io_submit"},
		{"__do_sys_io_uring_enter", "io_uring_enter", "do_sys_io_uring_enter"},
		{"__libc_read", "", "read"},
		{"__GI___libc_read", "", "read"},
		{"__read_nocancel", "", "read"},
		{"__GI___fsync", "", "fsync"},
		{"epoll_wait@plt", "", "epoll_wait"},
		{"__clock_nanosleep_time64", "", "clock_nanosleep"},
	} {
		if k, l := kernelEntry(test.function), libraryEntry(test.function); k != test.kernel || l != test.library {
			t.Errorf("%s is %q of the kernel and %q of a library, want %q and %q", test.function, k, l, test.kernel, test.library)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, expr := range samplePatterns {
		f.Add(expr, "abc")
	}
	f.Fuzz(func(t *testing.T, expr, s string) { checkPattern(t, expr, s) })
}

func FuzzParse(f *testing.F) {
	f.Add(builtinYAML(f))
	f.Add([]byte("categories: [{name: a, match: [x], under: [y]}, {include: builtin}]"))
	f.Add([]byte("categories:\n- {name: a, any: [{thread: x, kind: jit}, {leaf: ['^a$'], dso: [b]}]}\n"))
	f.Add([]byte("categories:\n- &a {name: *a}\n--- x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("c.yaml", data)
		switch {
		case (s == nil) != (err != nil):
			t.Fatalf("set %v, error %v", s, err)
		case err != nil && (strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "c.yaml:")):
			t.Fatalf("error %q", err)
		case err == nil:
			r := build(t, "a/t x!a;k!__x64_sys_read;-!y 3\nb/u java!x 4\na/t - 1")
			sum := int64(0)
			for _, row := range s.Group(r) {
				sum += row.Self[0].Weight
			}
			if sum != 8 {
				t.Fatalf("categories sum to %d, want 8", sum)
			}
		}
	})
}
