// Package listing puts the machine code of functions of two builds beside each other, with
// the samples of each instruction.
//
//  1. Samples of a function are counted by their offset in the file of its code: the code
//     of a function is what its symbol spans, with what was inlined into it.
//  2. The file is looked for below directories, by build ID and then by its path. A file
//     with another build ID is not taken.
//  3. The function around the offset with most samples is disassembled, and debug
//     information gives the line of each instruction.
//  4. The instructions of both sides are aligned by their text without addresses: the
//     longest common subsequence, between texts that both sides have once if there are many
//     (patience diff).
//  5. Of long functions what is far from samples is left out.
package listing

import "profdiff/internal/source"

// A Listing is the machine code of a function on both sides, aligned by what the
// instructions are.
type Listing struct {
	// Function and DSO name the function as head does, or base if head does not have it.
	Function, DSO string
	Event         string
	// BaseSamples and HeadSamples are all in the function.
	BaseSamples, HeadSamples int64
	Rows                     []Row
	// LeftOut is how many instructions without samples nearby are not in Rows.
	LeftOut int
}

// A Row is an instruction on one side or both.
type Row struct {
	// BaseOffset and HeadOffset are from the start of the function, -1 if the side does
	// not have the instruction.
	BaseOffset, HeadOffset   int64
	BaseText, HeadText       string
	BaseSamples, HeadSamples int64
	// What follows is head's, or base's if head does not have the instruction.
	Place
	// Source is the text of the line, "" if that was not asked for.
	Source source.Text
	// Inlined are the functions around that of the line, the innermost first, if the code of
	// the line was inlined.
	Inlined []Caller `json:",omitempty"`
}

// A Place is a line.
type Place struct {
	File string // base name
	Line int64
}

// A Caller is a function into which another was inlined, and the line of the call.
type Caller struct {
	// Callee is the function that was inlined.
	Callee string
	Place
}

// An Instruction is one of the code of a function on one side.
type Instruction struct {
	Offset int64 // from the start of the function
	Text   string
	// Key is what tells instructions apart that are the same on both sides: the text
	// without addresses, which move.
	Key     string
	Samples int64
	Place
	Source  source.Text
	Inlined []Caller
}

// maxListing is the number of rows of a listing from which those far from samples are
// left out.
const maxListing = 1200

// New aligns the code of both sides. The code of a side that does not have the
// function is nil.
func New(function, dso, event string, base, head []Instruction) Listing {
	l := Listing{Function: function, DSO: dso, Event: event}
	for i := range base {
		l.BaseSamples += base[i].Samples
	}
	for i := range head {
		l.HeadSamples += head[i].Samples
	}
	Align(base, head, func(b, h *Instruction) {
		r := Row{BaseOffset: -1, HeadOffset: -1}
		if b != nil {
			r.BaseOffset, r.BaseText, r.BaseSamples = b.Offset, b.Text, b.Samples
			r.Place, r.Source, r.Inlined = b.Place, b.Source, b.Inlined
		}
		if h != nil {
			r.HeadOffset, r.HeadText, r.HeadSamples = h.Offset, h.Text, h.Samples
			r.Place, r.Source, r.Inlined = h.Place, h.Source, h.Inlined
		}
		l.Rows = append(l.Rows, r)
	})
	l.shorten()
	return l
}

// shorten leaves out rows far from samples if there are many.
func (l *Listing) shorten() {
	if len(l.Rows) <= maxListing {
		return
	}
	for near := 24; ; near /= 2 {
		keep := make([]bool, len(l.Rows))
		n := 0
		for i := range l.Rows {
			if r := &l.Rows[i]; r.BaseSamples+r.HeadSamples == 0 {
				continue
			}
			for k := max(0, i-near); k < min(len(keep), i+near+1); k++ {
				if !keep[k] {
					keep[k] = true
					n++
				}
			}
		}
		if n > maxListing && near > 0 {
			continue
		}
		rows := make([]Row, 0, n)
		for i, k := range keep {
			if k {
				rows = append(rows, l.Rows[i])
			}
		}
		l.LeftOut = len(l.Rows) - n
		l.Rows = rows
		return
	}
}
