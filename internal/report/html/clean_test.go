package html

import (
	"bytes"
	"strings"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/source"
)

// TestTabs keeps tabs in source text alone, also in a page that is read and written again.
func TestTabs(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 100, Depth: 10, Runs: 4, Change: true})
	f := d.Events[0].Functions[0].Name
	d.Listings = []listing.Listing{listing.New(f, "program", "e", []listing.Instruction{{Text: "ret\t", Key: "ret", Source: "\tfrom a listing"}}, nil)}
	d.Sources = &diff.Sources{Functions: []diff.SourceFunction{{Name: f, DSO: "a\tb", HeadFile: "x.c", Rows: []source.Row{{Head: 1, Text: "\tfrom\ttext\x00", Was: "\twas"}}}}}
	d.Branches = &Branches{Code: []BranchCode{{Function: "f", Rows: []CodeRow{{Source: "\tat a branch"}}}}}
	d.Events[0].HotLines[0].Text = "\thot"
	page := render(t, d)
	for _, page := range [][]byte{page, again(t, page)} {
		p, err := Read(bytes.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, b := range p.blocks {
			text, err := inflate(b.data, maxJSON)
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(string(text))
		}
		for _, want := range []string{`"\tfrom a listing"`, `"\tfrom\ttext⟨U+0000⟩"`, `"\twas"`, `"\tat a branch"`, `"\thot"`, `"a⟨U+0009⟩b"`, `"ret⟨U+0009⟩"`} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("the page does not have %s", want)
			}
		}
	}
}
