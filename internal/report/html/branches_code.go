package html

import (
	"path"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/listing"
)

// A branchPlace is where a branch is, as all runs of a side have it.
type branchPlace struct {
	dso     string
	address uint64
}

// branchPlaces are the rows of branches by their places on one side. Of branches that
// cores of several kinds ran it is the first.
type branchPlaces map[branchPlace]int

func (p branchPlaces) add(b *branch.Branch, row int) {
	at := branchPlace{b.DSO, b.Address}
	if _, ok := p[at]; !ok && !b.ByLine {
		p[at] = row
	}
}

// addCode adds the code of a function, and links its branches to it. base or head may be
// nil; with base alone, there is one side.
func (b *Branches) addCode(base, head *annotate.Listing, basePlaces, headPlaces branchPlaces, opt Options) {
	before, after := instructionsOf(base, opt), instructionsOf(head, opt)
	latest := head
	if latest == nil {
		latest = base
	}
	code := BranchCode{Function: latest.Function, DSO: path.Base(latest.DSO)}
	linked := false
	inst := func(l *annotate.Listing, places branchPlaces, in *listing.Instruction) *CodeInst {
		if in == nil {
			return nil
		}
		out := &CodeInst{Offset: in.Offset, Text: in.Text, Branch: -1}
		if row, ok := places[branchPlace{l.DSO, l.Start + uint64(in.Offset)}]; ok {
			out.Branch, linked = row, true
			b.Rows[row].Code = len(b.Code)
		}
		return out
	}
	listing.Align(before, after, func(x, y *listing.Instruction) {
		row := CodeRow{Base: inst(base, basePlaces, x), Head: inst(head, headPlaces, y)}
		if y != nil {
			x = y
		}
		row.File, row.Line, row.Source = x.File, x.Line, x.Source
		code.Rows = append(code.Rows, row)
	})
	if linked {
		b.Code = append(b.Code, code)
	}
}

func instructionsOf(l *annotate.Listing, opt Options) []listing.Instruction {
	if l == nil {
		return nil
	}
	list := make([]listing.Instruction, len(l.Insts))
	for i := range l.Insts {
		in := &l.Insts[i]
		x := listing.Instruction{Offset: int64(in.Addr - l.Start), Text: in.Text, Key: listing.Key(in.Text)}
		if len(in.Frames) > 0 && in.Frames[0].File != "" {
			x.File, x.Line = path.Base(in.Frames[0].File), int64(in.Frames[0].Line)
			x.Source = opt.Source.Line(x.File, x.Line)
		}
		list[i] = x
	}
	return list
}
