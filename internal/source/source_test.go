package source

import (
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func tree(files map[string]string) *Tree {
	fsys := make(fstest.MapFS)
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return New("project", Directory(fsys))
}

// text joins the lines of a file.
func joined(f *File) string {
	if f == nil {
		return ""
	}
	list := make([]string, len(f.Lines))
	for i, l := range f.Lines {
		list[i] = string(l)
	}
	return strings.Join(list, "|")
}

func TestFile(t *testing.T) {
	files := map[string]string{
		"src/a/util.c": "in a", "src/b/util.c": "in b", "main.c": "\tint main;  \r\n\n// end", ".git/main.c": "hidden", "lib/one.c": "1",
	}
	for _, test := range []struct{ name, want, err string }{
		{"/home/me/project/src/a/util.c", "in a", ""},
		{"/home/me/project/src/b/util.c", "in b", ""},
		{`C:\build\src\b\util.c`, "in b", ""},
		{"./src/a/../b/util.c", "in b", ""},
		{"/elsewhere/util.c", "", "util.c: it may be src/a/util.c or src/b/util.c"},
		{"/build/7/main.c", "\tint main;||// end", ""},
		{"main.c", "\tint main;||// end", ""},
		{"../../main.c", "\tint main;||// end", ""},
		{"/usr/include/stdio.h", "", ErrNone.Error()},
		{"", "", ErrNone.Error()},
		{"..", "", ErrNone.Error()},
	} {
		f, err := tree(files).File(test.name)
		if got := fmt.Sprint(err); joined(f) != test.want || test.err != "" && got != test.err || test.err == "" && err != nil {
			t.Errorf("%s: %q, %v, want %q, %q", test.name, joined(f), err, test.want, test.err)
		}
	}
	var none *Tree
	if _, err := none.File("main.c"); !errors.Is(err, ErrNone) || none.Line("main.c", 1) != "" || none.Wants("main.c") || none.Below("main.c") != nil {
		t.Errorf("no tree: %v", err)
	}
	if got := tree(files).Line("/x/main.c", 1); got != "\tint main;" {
		t.Errorf("line 1 is %q", got)
	}
	if got := tree(files).Line("/x/main.c", 4); got != "" {
		t.Errorf("line 4 is %q", got)
	}
	if f := tree(files).Below("lib/one.c"); joined(f) != "1" || tree(files).Below("one.c") != nil {
		t.Errorf("below the root there is %v", f)
	}
}

// TestExpected takes a text only if its digest is that of the debug information.
func TestExpected(t *testing.T) {
	files := map[string]string{"old/util.c": "old", "new/util.c": "new"}
	for _, test := range []struct{ text, want, err string }{
		{"old", "old/util.c", ""},
		{"new", "new/util.c", ""},
		{"newer", "", "new/util.c: this is not the text that was compiled, its MD5 is another"},
	} {
		s := tree(files)
		// Looking before the digest is known does not settle it.
		if f, err := s.File("/build/new/util.c"); err != nil || f.Checked {
			t.Errorf("%v, %v", f, err)
		}
		if !s.Wants("/build/new/util.c") {
			t.Error("the tree knows of a digest")
		}
		s.Expect("/build/new/util.c", md5.Sum([]byte(test.text)), true)
		f, err := s.File("/build/new/util.c")
		switch {
		case test.err != "":
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: %v, want %s", test.text, err, test.err)
			}
		case err != nil || f.Path != test.want || !f.Checked:
			t.Errorf("%s: %v, %v, want %s", test.text, f, err, test.want)
		}
	}
}

// TestBuilt needs no check of what was built where the file is.
func TestBuilt(t *testing.T) {
	for _, test := range []struct {
		built, name string
		want        bool
	}{
		{"/cache/tree", "/cache/tree/src/a.c", true},
		{"/cache/tree/src", "/cache/tree/src/a.c", true},
		{"/cache/tree", "/usr/src/other/src/a.c", false},
		{"/cache/tree", "/cache/tree/other/a.c", false},
		{"", "/cache/tree/src/a.c", false},
	} {
		s := tree(map[string]string{"src/a.c": "a"})
		s.Built = test.built
		if f, err := s.File(test.name); err != nil || f.Checked != test.want {
			t.Errorf("%s of %s: %v, %v", test.name, test.built, f, err)
		}
	}
}

// TestLinks follows links in a directory, and none that leads out of it.
func TestLinks(t *testing.T) {
	outside := t.TempDir()
	root := t.TempDir()
	for name, text := range map[string]string{filepath.Join(outside, "secret.c"): "secret", filepath.Join(root, "real.c"): "real"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"inner.c": "real.c", "secret.c": filepath.Join(outside, "secret.c"), "up.c": "../" + filepath.Base(outside) + "/secret.c", "folder": outside, "loop.c": "loop.c",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := New("", Directory(r.FS()))
	for name, want := range map[string]string{"real.c": "real", "inner.c": "real", "secret.c": "", "up.c": "", "loop.c": ""} {
		f, err := s.File("/build/" + name)
		if joined(f) != want || want == "" && !errors.Is(err, ErrNone) {
			t.Errorf("%s: %q, %v, want %q", name, joined(f), err, want)
		}
	}
}

func TestLarge(t *testing.T) {
	_, err := tree(map[string]string{"large.c": strings.Repeat("x", MaxFile+1)}).File("large.c")
	if err == nil || err.Error() != "large.c: has more than 32 MB" {
		t.Errorf("%v", err)
	}
}

func TestBeside(t *testing.T) {
	file := func(text string) *File {
		if text == "" {
			return nil
		}
		f := &File{}
		for line := range strings.SplitSeq(text, " ") {
			f.Lines = append(f.Lines, Text(strings.Trim(line, "_")))
		}
		return f
	}
	for _, test := range []struct {
		base, head string
		want       []Row
	}{
		{"a b", "a b", []Row{{1, 1, "a", ""}, {2, 2, "b", ""}}},
		{"a x b", "a y b", []Row{{1, 1, "a", ""}, {2, 2, "y", "x"}, {3, 3, "b", ""}}},
		{"a x z b", "a y b", []Row{{1, 1, "a", ""}, {2, 2, "y", "x"}, {3, 0, "z", ""}, {4, 3, "b", ""}}},
		// A blank line is not what another line was.
		{"a _ b", "a y b", []Row{{1, 1, "a", ""}, {2, 0, "", ""}, {0, 2, "y", ""}, {3, 3, "b", ""}}},
		{"a y b", "a _ b", []Row{{1, 1, "a", ""}, {0, 2, "", ""}, {2, 0, "y", ""}, {3, 3, "b", ""}}},
		{"", "a b", []Row{{0, 1, "a", ""}, {0, 2, "b", ""}}},
		{"a b", "", []Row{{1, 0, "a", ""}, {2, 0, "b", ""}}},
		{"a", "b a c", []Row{{0, 1, "b", ""}, {1, 2, "a", ""}, {0, 3, "c", ""}}},
		{"", "", nil},
	} {
		if d := cmp.Diff(test.want, Beside(file(test.base), file(test.head))); d != "" {
			t.Errorf("%q, %q: %s", test.base, test.head, d)
		}
	}
}

func TestNames(t *testing.T) {
	f := &File{Path: "src/x.cc", Lines: []Text{"// a", "int Heap::sift_up(int i) {", "~Heap() {}", "fn fmt(&self)"}}
	for _, test := range []struct {
		function  string
		line      int64
		named, ok bool
	}{
		{"Heap::sift_up(int)", 2, true, true},
		{"sift_up@x.cc", 2, true, true},
		{"sift_up.constprop.0", 2, true, true},
		{"std::vector<Heap>::sift_up<int>(int) const", 2, true, true},
		{"Heap::sift_down(int)", 2, false, true},
		{"Heap::sift_up(int)", 3, false, true},
		{"Heap::sift_up(int)", 200, false, true},
		{"Heap::~Heap()", 3, true, true},
		{"<Heap as core::fmt::Display>::fmt", 4, true, true},
		{"Heap::sift_up(int)", 0, false, false},
		{"main.run.func1", 1, false, false},
		{"Heap::operator()(int)", 1, false, false},
		{"core::ops::{{closure}}", 1, false, false},
	} {
		if named, ok := f.Names(test.function, test.line); named != test.named || ok != test.ok {
			t.Errorf("%s at %d: %t, %t", test.function, test.line, named, ok)
		}
	}
}

// TestStarts refuses a text in which functions are elsewhere, unless it was checked.
func TestStarts(t *testing.T) {
	text := "int a() {}\nint b() {}\nint c() {}\nint d() {}\nMAKE(e)\n"
	for _, test := range []struct {
		starts []start
		err    string
	}{
		{nil, ""},
		{[]start{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"made", 5}}, ""},
		{[]start{{"a", 1}, {"b", 2}, {"made", 5}}, "x.c: probably of another version than was compiled: 1 of 3 functions are not named in the lines where they start"},
		{[]start{{"a", 2}}, "x.c: probably of another version than was compiled: 1 of 1 functions are not named in the lines where they start"},
		{[]start{{"{{closure}}", 2}}, ""},
		{[]start{{"a", 0}}, ""},
	} {
		s := tree(map[string]string{"x.c": text})
		if _, err := s.File("x.c"); err != nil {
			t.Errorf("before anything is told: %v", err)
		}
		for _, x := range test.starts {
			s.Starts("x.c", x.function, x.line)
		}
		_, err := s.File("x.c")
		if err == nil && test.err != "" || err != nil && err.Error() != test.err {
			t.Errorf("%v: %v, want %q", test.starts, err, test.err)
		}
		if test.err != "" && s.Line("x.c", 1) != "" {
			t.Errorf("%v: there are lines", test.starts)
		}
		s.Expect("x.c", md5.Sum([]byte(text)), true)
		if _, err := s.File("x.c"); err != nil {
			t.Errorf("%v: the digest fits, but: %v", test.starts, err)
		}
	}
}
