package branches

import (
	"path"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/branch/diff"
	"profdiff/internal/listing"
	"profdiff/internal/objects"
	"profdiff/internal/source"
)

// maxBranchListings is the number of functions whose branches a report shows in the code.
const maxBranchListings = 20

// A Page is what a page shows beside what all outputs do.
type Page struct {
	// Listings are the code of functions.
	Listings []Listings
	// Source has the text of lines of both sides; of one recording it is Base.
	Source source.Sides
}

// Listings are the code of a function on both sides, nil where there is none. Of one recording
// it is Base.
type Listings struct{ Base, Head *annotate.Listing }

// ListingsOf are the code of the functions with the branches that cost most.
func ListingsOf(t *branch.Table, files *objects.Store) (list []Listings) {
	var wanted []string
	for i := range t.Branches {
		if b := &t.Branches[i]; b.Enough && len(wanted) < maxBranchListings {
			wanted = addFunction(wanted, functionOf(b))
		}
	}
	for _, l := range listingsOf(t, wanted, files) {
		if l != nil {
			list = append(list, Listings{Base: l})
		}
	}
	return list
}

// DiffListingsOf are the code of the functions with the branches whose misses changed most.
func DiffListingsOf(c *diff.Result, files *objects.Store) (list []Listings) {
	type pair struct{ base, head string }
	var pairs []pair
	var wanted [2][]string
	for i := range c.Branches {
		var p pair
		if b := c.Branches[i].Base; b != nil {
			p.base = functionOf(b.Branch)
		}
		if b := c.Branches[i].Head; b != nil {
			p.head = functionOf(b.Branch)
		}
		// Other branches of a function that lost or got one are on both sides.
		if p.base == "" {
			p.base = p.head
		} else if p.head == "" {
			p.head = p.base
		}
		if p.base == "" || slices.Contains(pairs, p) {
			continue
		}
		if len(pairs) == maxBranchListings {
			break
		}
		pairs = append(pairs, p)
		wanted[0], wanted[1] = append(wanted[0], p.base), append(wanted[1], p.head)
	}
	before, after := listingsOf(c.Base[0], wanted[0], files), listingsOf(c.Head[0], wanted[1], files)
	for i, p := range pairs {
		l := Listings{Base: before[i], Head: after[i]}
		// Code of one side alone would look as if it were new or gone.
		if l.Base == nil && names(c.Base[0], p.base) || l.Head == nil && names(c.Head[0], p.head) || l.Base == nil && l.Head == nil {
			continue
		}
		list = append(list, l)
	}
	return list
}

// functionOf names the function of a branch as listings want it, "" if it has no name.
func functionOf(b *branch.Branch) string {
	if b.Function == "" {
		return ""
	}
	return path.Base(b.DSO) + ":" + b.Function
}

func addFunction(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// names reports whether a table has branches of a function.
func names(t *branch.Table, function string) bool {
	return slices.ContainsFunc(t.Branches, func(b branch.Branch) bool { return functionOf(&b) == function })
}

// listingsOf lists the code of functions, nil for a function without.
func listingsOf(t *branch.Table, wanted []string, files *objects.Store) []*annotate.Listing {
	if files.Empty() {
		return make([]*annotate.Listing, len(wanted))
	}
	return annotate.Functions(t, wanted, files)
}

// A branchPlace is where a branch is, as all runs of a side have it.
type branchPlace struct {
	dso     string
	address uint64
}

// branchPlaces are the rows of branches by their places on one side. Of branches that
// cores of several kinds ran it is the first.
type branchPlaces map[branchPlace]int

func (p branchPlaces) add(b *Branch, row int) {
	at := branchPlace{b.DSO, b.Addr}
	if _, ok := p[at]; !ok && !b.ByLine() {
		p[at] = row
	}
}

// code lines up the code of both sides, and links it to the branches at its places: link says
// which code a branch is in. Code without branches is left out.
func (p *Page) code(before, after branchPlaces, link func(row, code int)) (list []Code) {
	for _, l := range p.Listings {
		tell(l.Base, p.Source.Base)
		tell(l.Head, p.Source.Head)
	}
	for _, l := range p.Listings {
		latest := l.Head
		if latest == nil {
			latest = l.Base
		}
		code := Code{Function: latest.Function, DSO: path.Base(latest.DSO)}
		linked := false
		inst := func(l *annotate.Listing, places branchPlaces, in *listing.Instruction) *CodeInst {
			if in == nil {
				return nil
			}
			out := &CodeInst{Offset: in.Offset, Text: in.Text, Branch: -1}
			if row, ok := places[branchPlace{l.DSO, l.Start + uint64(in.Offset)}]; ok {
				out.Branch, linked = row, true
				link(row, len(list))
			}
			return out
		}
		listing.Align(instructions(l.Base, p.Source.Base), instructions(l.Head, p.Source.Head), func(x, y *listing.Instruction) {
			row := CodeRow{Base: inst(l.Base, before, x), Head: inst(l.Head, after, y)}
			if y != nil {
				x = y
			}
			row.File, row.Line, row.Source = x.File, x.Line, x.Source
			code.Rows = append(code.Rows, row)
		})
		if linked {
			list = append(list, code)
		}
	}
	return list
}

// tell tells where functions start: a text in which they start elsewhere is another.
func tell(l *annotate.Listing, text *source.Tree) {
	if l == nil || text == nil {
		return
	}
	for i := range l.Insts {
		for k := range l.Insts[i].Frames {
			f := &l.Insts[i].Frames[k]
			text.Starts(f.File, f.Name, f.StartLine)
		}
	}
}

func instructions(l *annotate.Listing, text *source.Tree) []listing.Instruction {
	if l == nil {
		return nil
	}
	list := make([]listing.Instruction, len(l.Insts))
	for i := range l.Insts {
		in := &l.Insts[i]
		x := listing.Instruction{Offset: int64(in.Addr - l.Start), Text: in.Text, Key: listing.Key(in.Text)}
		if len(in.Frames) > 0 && in.Frames[0].File != "" {
			x.Place = listing.Place{File: path.Base(in.Frames[0].File), Line: in.Frames[0].Line}
			x.Source = text.Line(in.Frames[0].File, x.Line)
		}
		list[i] = x
	}
	return list
}
