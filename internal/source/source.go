// Package source has the text of the files that code was compiled of, each side of a comparison
// its own.
//
//  1. A side has a tree of files: those below a directory, or those of a commit. Nothing outside
//     is read: links that lead out of the directory are not followed.
//  2. Debug information names a file by a path on the machine that compiled it. Of the files with
//     the same base name the one is taken whose path has most of the last elements in common,
//     unless several have.
//  3. Debug information may have the MD5 of the text that was compiled (DWARF 5, 6.2.4.1): another
//     text is refused. Where it has none, more than three quarters of the functions of which
//     that can be said have to be named in the lines where they start.
//  4. The lines of both sides are aligned by their longest common subsequence, and what lies
//     between lines that both have is paired in order, as reviews do.
package source

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 32 << 20

// Text is a line of a source file. Tabs are part of it.
type Text string

// Files are where the text of a side is.
type Files interface {
	// List names all files, by paths with slashes below the root.
	List() ([]string, error)
	// Read reads one of them. It refuses a file with more than [MaxFile] bytes, see [TooLarge].
	Read(name string) ([]byte, error)
}

// A Tree is the source files of one side. It is not for concurrent use. A nil Tree has none.
type Tree struct {
	// Title says in a few words whose files these are.
	Title string
	// Built is where these files were built, in the root or below it, "" if that is not known: what
	// debug information names there needs no check.
	Built    string
	files    Files
	listed   bool
	named    map[string][]string // paths by base name
	expected map[string]expected // by the path that debug information has, as starts and found
	starts   map[string]map[start]bool
	found    map[string]*found
	read     map[string]*text
}

// expected is a digest, if there is one.
type expected struct {
	sum   [md5.Size]byte
	known bool
}

// A start is the line in which a function starts.
type start struct {
	function string
	line     int64
}

type found struct {
	file *File
	err  error
}

type text struct {
	file File
	sum  [md5.Size]byte
	err  error
}

// New makes a tree of files.
func New(title string, files Files) *Tree {
	return &Tree{
		Title: title, files: files, named: make(map[string][]string), expected: make(map[string]expected),
		starts: make(map[string]map[start]bool), found: make(map[string]*found), read: make(map[string]*text),
	}
}

// A File is the text of a file.
type File struct {
	Path  string // below the root
	Lines []Text
	// Checked is set if this is known to be the text that was compiled: it has the digest that
	// debug information has, or it was built where this file is.
	Checked bool
}

// Sides are the trees of both sides of a comparison.
type Sides struct{ Base, Head *Tree }

// Any reports whether a side has a tree.
func (s Sides) Any() bool { return s.Base != nil || s.Head != nil }

// Wants reports whether a file, as debug information names it, is one of which the tree was not
// told yet what to expect.
func (t *Tree) Wants(name string) bool {
	if t == nil {
		return false
	}
	_, known := t.expected[name]
	return !known
}

// Expect tells what debug information has of a file: the MD5 of the text that was compiled, or
// that there is none.
func (t *Tree) Expect(name string, sum [md5.Size]byte, known bool) {
	t.expected[name] = expected{sum, known}
	delete(t.found, name)
}

// Starts tells in which line of a file a function starts, 0 if that is not known. A text that was
// not checked otherwise is judged by all that was told.
func (t *Tree) Starts(name, function string, line int64) {
	if t == nil || name == "" || line == 0 {
		return
	}
	if t.starts[name] == nil {
		t.starts[name] = make(map[start]bool)
	}
	if s := (start{function, line}); !t.starts[name][s] {
		t.starts[name][s] = true
		delete(t.found, name)
	}
}

// ErrNone says that there is no file: that is no fault of the tree.
var ErrNone = errors.New("not there")

// File finds a file that debug information names. Errors other than [ErrNone] say why the text
// is withheld.
func (t *Tree) File(name string) (*File, error) {
	if t == nil || name == "" {
		return nil, ErrNone
	}
	f := t.found[name]
	if f == nil {
		f = new(found)
		f.file, f.err = t.find(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), t.expected[name])
		if f.err == nil && !f.file.Checked {
			f.err = f.file.fits(t.starts[name])
		}
		t.found[name] = f
	}
	return f.file, f.err
}

// fits is an error if a quarter of the functions or more are not named in the lines where they
// start: some have no name in the text, as those that macros make.
func (f *File) fits(starts map[start]bool) error {
	known, other := 0, 0
	for s := range starts {
		if named, ok := f.Names(s.function, s.line); ok {
			known++
			if !named {
				other++
			}
		}
	}
	if 4*other >= max(known, 1) {
		return fmt.Errorf("%s: probably of another version than was compiled: %d of %d functions are not named in the lines where they start", f.Path, other, known)
	}
	return nil
}

// Below is the file with a path below the root, nil if there is none. Whether it fits, nobody
// asks: it is for code that was not compiled of it, or not sampled.
func (t *Tree) Below(name string) *File {
	if t == nil || t.list() != nil || !slices.Contains(t.named[path.Base(name)], name) {
		return nil
	}
	if x := t.text(name); x.err == nil {
		return &x.file
	}
	return nil
}

// Part are the lines from one to another, as far as they are there. Nil has none.
func (f *File) Part(from, to int) *File {
	if f == nil {
		return nil
	}
	return &File{Path: f.Path, Lines: f.Lines[min(max(from, 1)-1, len(f.Lines)):min(to, len(f.Lines))], Checked: f.Checked}
}

// Line is the text of a line, "" if it is not known.
func (t *Tree) Line(name string, line int64) Text {
	f, err := t.File(name)
	if err != nil || line < 1 || line > int64(len(f.Lines)) {
		return ""
	}
	return f.Lines[line-1]
}

// maxCandidates is the number of files of one name that are looked at.
const maxCandidates = 100

func (t *Tree) find(name string, want expected) (*File, error) {
	if err := t.list(); err != nil {
		return nil, err
	}
	candidates := t.named[path.Base(name)]
	if len(candidates) == 0 {
		return nil, ErrNone
	}
	if len(candidates) > maxCandidates {
		return nil, fmt.Errorf("%s: %d files have this name", path.Base(name), len(candidates))
	}
	candidates = slices.Clone(candidates)
	slices.SortStableFunc(candidates, func(a, b string) int { return common(b, name) - common(a, name) })
	if !want.known {
		if len(candidates) > 1 && common(candidates[0], name) == common(candidates[1], name) {
			return nil, fmt.Errorf("%s: it may be %s or %s", path.Base(name), candidates[0], candidates[1])
		}
		x := t.text(candidates[0])
		root, whole := strings.CutSuffix(name, "/"+candidates[0])
		x.file.Checked = whole && t.Built != "" && strings.HasPrefix(t.Built+"/", root+"/")
		return &x.file, x.err
	}
	for _, c := range candidates {
		if x := t.text(c); x.err == nil && x.sum == want.sum {
			checked := x.file
			checked.Checked = true
			return &checked, nil
		}
	}
	if x := t.text(candidates[0]); x.err != nil {
		return nil, x.err
	}
	return nil, fmt.Errorf("%s: this is not the text that was compiled, its MD5 is another", candidates[0])
}

// list lists the files once.
func (t *Tree) list() error {
	if t.listed {
		return nil
	}
	list, err := t.files.List()
	if err != nil {
		return err
	}
	for _, file := range list {
		t.named[path.Base(file)] = append(t.named[path.Base(file)], file)
	}
	t.listed = true
	return nil
}

// common is how many of the last elements two paths have in common.
func common(a, b string) (n int) {
	for a != "" && b != "" && path.Base(a) == path.Base(b) && path.Base(a) != "/" {
		n++
		a, b = parent(a), parent(b)
	}
	return n
}

func parent(name string) string {
	return name[:max(strings.LastIndexByte(name, '/'), 0)]
}

// text reads a file once.
func (t *Tree) text(name string) *text {
	x := t.read[name]
	if x != nil {
		return x
	}
	x = &text{file: File{Path: name}}
	t.read[name] = x
	data, err := t.files.Read(name)
	if err != nil {
		x.err = err
		return x
	}
	x.sum = md5.Sum(data)
	for line := range bytes.Lines(data) {
		x.file.Lines = append(x.file.Lines, Text(bytes.TrimRight(line, " \t\r\n")))
	}
	return x
}
