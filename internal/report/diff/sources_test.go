package diff

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/compare/comparetest"
	"profdiff/internal/listing"
	"profdiff/internal/source"
)

// A program is the text of what comparetest records: each function has ten lines, cost is in the
// fourth.
type program []string

func programOf(c *compare.Comparison) program {
	var p program
	for _, r := range c.Base {
		for i := range r.Functions {
			f := &r.Functions[i]
			for int64(len(p)) < f.StartLine+10 {
				p = append(p, fmt.Sprintf("\tline %d", len(p)+1))
			}
			if f.StartLine > 0 {
				name := align.Bare(f.Name)
				p[f.StartLine-1] = "void " + name[strings.LastIndexAny(name, ":. ")+1:]
			}
		}
	}
	return p
}

func (p program) tree(title string) *source.Tree {
	return source.New(title, source.Directory(fstest.MapFS{"src/program.cc": {Data: []byte(strings.Join(p, "\n"))}}))
}

func withSources(t *testing.T, c *compare.Comparison, sides source.Sides) *Document {
	t.Helper()
	return New(c, Parts{Page: &Page{Listing: listing.Options{Source: sides}}})
}

func TestSources(t *testing.T) {
	c, err := comparetest.Compare(comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true})
	if err != nil {
		t.Fatal(err)
	}
	before := programOf(c)
	d := withSources(t, c, source.Sides{})
	if d.Sources != nil {
		t.Error("there is text without any source")
	}
	hot := &d.Events[0].HotLines[0]
	name := d.Events[0].Functions[hot.Function].Name
	after := append(program{}, before...)
	after[hot.HeadLine-1] = "\tchanged"

	d = withSources(t, c, source.Sides{Base: before.tree("old"), Head: after.tree("new")})
	s := d.Sources
	if s.Base != "old" || s.Head != "new" || len(s.Functions) < 10 {
		t.Fatalf("%q, %q, %d functions", s.Base, s.Head, len(s.Functions))
	}
	if got := d.Events[0].HotLines[0].Text; got != "\tchanged" {
		t.Errorf("the line is %q", got)
	}
	at := int(hot.HeadLine)
	line := func(n int) source.Row { return source.Row{Base: n, Head: n, Text: source.Text(before[n-1])} }
	changed := line(at)
	changed.Text, changed.Was = "\tchanged", changed.Text
	want := SourceFunction{Name: name, DSO: "program", BaseFile: "src/program.cc", HeadFile: "src/program.cc"}
	for n := at - 6; n <= at+3; n++ { // from three lines above the function to three below
		want.Rows = append(want.Rows, line(n))
	}
	want.Rows[6] = changed
	var got SourceFunction
	for _, f := range s.Functions {
		if f.Name == name {
			got = f
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Notes) != 2 || !strings.HasPrefix(s.Notes[0], "Before: 1 of 1 files could not be checked") {
		t.Errorf("notes: %q", s.Notes)
	}

	// A function that moved is found where it is, and one that is not where it should be has no text.
	moved := append(program{"", "", ""}, before...)
	s = withSources(t, c, source.Sides{Base: moved.tree("old"), Head: after.tree("new")}).Sources
	for _, f := range s.Functions {
		if f.Name != name {
			continue
		}
		if f.BaseFile != "" || f.HeadFile == "" || !strings.Contains(f.Withheld, "before: src/program.cc: probably of another version than was compiled: ") {
			t.Errorf("%q, %q, %q", f.BaseFile, f.HeadFile, f.Withheld)
		}
		for _, r := range f.Rows {
			if r.Base > 0 || r.Was != "" {
				t.Errorf("text that does not fit is shown: %+v", r)
			}
		}
	}

	// One side alone, and none that fits.
	s = withSources(t, c, source.Sides{Head: after.tree("new")}).Sources
	if s.Base != "" || len(s.Functions) < 10 || s.Functions[0].BaseFile != "" || s.Functions[0].Withheld != "" {
		t.Errorf("one side alone: %+v", s)
	}
	other := source.New("other", source.Directory(fstest.MapFS{"other.cc": {Data: []byte("x")}}))
	s = withSources(t, c, source.Sides{Base: other, Head: other}).Sources
	if len(s.Functions) > 0 || len(s.Notes) != 2 || s.Notes[0] != "Before: not there: program.cc." {
		t.Errorf("no text: %+v", s)
	}
}

// TestSourcesBound keeps a part of long functions, and of many.
func TestSourcesBound(t *testing.T) {
	c, err := comparetest.Compare(comparetest.Options{Frames: 20_000, Depth: 60, Runs: 2, Change: true})
	if err != nil {
		t.Fatal(err)
	}
	p := programOf(c)
	s := withSources(t, c, source.Sides{Base: p.tree("old"), Head: p.tree("new")}).Sources
	if len(s.Functions) != maxSourceFunctions || s.LeftOut == 0 || !strings.HasPrefix(s.Notes[len(s.Notes)-1], fmt.Sprintf("Left out: the text of %d functions", s.LeftOut)) {
		t.Errorf("%d functions, %d left out, %q", len(s.Functions), s.LeftOut, s.Notes)
	}
	// Lines that are too long for a page are left out, too.
	for _, f := range s.Functions {
		for _, r := range f.Rows {
			p[r.Head-1] += strings.Repeat(" wide", 1000)
		}
	}
	s = withSources(t, c, source.Sides{Head: p.tree("new")}).Sources
	size := 0
	for _, f := range s.Functions {
		for _, r := range f.Rows {
			size += len(r.Text)
		}
	}
	if size > maxSourceText || len(s.Functions) == 0 || s.LeftOut == 0 {
		t.Errorf("%d functions with %d bytes, %d left out", len(s.Functions), size, s.LeftOut)
	}
	x := &sourceCandidate{f: &Function{Name: "long"}}
	for side := range x.lines {
		x.lines[side] = map[int64]float64{5: 1, 900: 1}
		x.weight[side] = map[compare.Source]float64{{Path: "long.c", Start: 3}: 1}
	}
	file := &source.File{Path: "long.c"}
	for i := range 1000 {
		file.Lines = append(file.Lines, source.Text(fmt.Sprint(i)))
	}
	b := sourceBuilder{beside: make(map[[2]string][]source.Row)}
	rows := b.passage(x, [2]*source.File{file, file})
	has := make(map[int]bool)
	for _, r := range rows {
		has[r.Base] = true
	}
	if len(rows) > 50 || !has[3] || !has[5] || !has[900] || has[400] {
		t.Errorf("%d rows of a long function: %v", len(rows), has)
	}
}
