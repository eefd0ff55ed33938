package html

import (
	"path"
	"strings"

	"profdiff/internal/branch"
)

// A BranchListing is the code of a function on both sides, nil where there is none.
type BranchListing struct{ Base, Head *branch.Listing }

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

// ripRelative is what follows a displacement from the instruction pointer, and
// addressDigits how many digits make a number an address.
const (
	ripRelative   = "(%rip)"
	addressDigits = 5
)

// InstructionKey is the text of an instruction without what differs between builds though
// the code is the same: addresses and displacements from the instruction pointer.
func InstructionKey(text string) string {
	var out []byte
	done := 0
	for at := 0; ; {
		next := strings.Index(text[at:], "0x")
		if next < 0 {
			break
		}
		start := at + next
		end := start + 2
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] >= 'a' && text[end] <= 'f') {
			end++
		}
		at = start + 1
		digits := end - start - 2
		switch {
		case digits > 0 && strings.HasPrefix(text[end:], ripRelative):
			end += len(ripRelative)
			if start > done && text[start-1] == '-' {
				start--
			}
		case digits < addressDigits || start > 0 && isWord(text[start-1]) || end < len(text) && isWord(text[end]):
			continue
		}
		out = append(append(out, text[done:start]...), '@')
		at, done = end, end
	}
	if done == 0 {
		return text // most
	}
	return string(append(out, text[done:]...))
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// addCode adds the code of a function, and links its branches to it. base or head may be
// nil; with base alone, there is one side.
func (b *Branches) addCode(base, head *branch.Listing, basePlaces, headPlaces branchPlaces, opt Options) {
	before, after := instructionsOf(base, opt), instructionsOf(head, opt)
	latest := head
	if latest == nil {
		latest = base
	}
	code := BranchCode{Function: latest.Function, DSO: path.Base(latest.DSO)}
	linked := false
	inst := func(l *branch.Listing, places branchPlaces, in *Instruction) *CodeInst {
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
	alignRows(before, after, func(x, y *Instruction) {
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

func instructionsOf(l *branch.Listing, opt Options) []Instruction {
	if l == nil {
		return nil
	}
	list := make([]Instruction, len(l.Insts))
	for i := range l.Insts {
		in := &l.Insts[i]
		x := Instruction{Offset: int64(in.Addr - l.Start), Text: in.Text, Key: InstructionKey(in.Text)}
		if len(in.Frames) > 0 && in.Frames[0].File != "" {
			x.File, x.Line = path.Base(in.Frames[0].File), int64(in.Frames[0].Line)
			if opt.Source != nil {
				x.Source = opt.Source(x.File, x.Line)
			}
		}
		list[i] = x
	}
	return list
}
