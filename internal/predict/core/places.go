package core

import (
	"slices"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// usualAlignment is how compilers for x86-64 align functions.
const usualAlignment = 16

// placesOf are the addresses of the first and the last bytes of the instructions of a
// graph, modulo large powers of two.
// Addresses in a listing follow from the lengths that the assembler will choose. A function
// may be at more places than one: the variant says at which.
func placesOf(g *flow.Graph, variant int) (places, ends []uint64) {
	places = make([]uint64, len(g.Insts))
	lengths := make([]uint64, len(g.Insts))
	for i := range g.Insts {
		lengths[i] = uint64(g.Insts[i].Size(g.Arch))
	}
	for again := true; again; { // until no branch has to become longer
		place(g, variant, lengths, places)
		again = false
		for i := range g.Insts {
			in := &g.Insts[i]
			if lengths[i] != 2 || in.To < 0 || in.Addr != 0 || in.Kind != disasm.Conditional && in.Kind != disasm.Jump {
				continue
			}
			if d := int64(places[in.To]) - int64(places[i]) - 2; d < -128 || d > 127 {
				lengths[i] = 5
				if in.Kind == disasm.Conditional {
					lengths[i] = 6
				}
				again = true
			}
		}
	}
	ends = make([]uint64, len(places))
	for i := range ends {
		ends[i] = places[i] + lengths[i] - 1
	}
	return places, ends
}

// place lays out instructions of some lengths.
func place(g *flow.Graph, variant int, lengths, places []uint64) {
	at := uint64(0)
	for i := range g.Insts {
		in := &g.Insts[i]
		if in.Addr != 0 {
			places[i] = in.Addr
			continue
		}
		for _, a := range in.Aligned {
			if pad := -at & (a.Bytes - 1); pad <= a.Most {
				at += pad
			}
		}
		if i == 0 && !slices.ContainsFunc(in.Aligned, func(a asm.Alignment) bool { return a.Bytes >= 64 }) {
			at = usualAlignment * uint64(variant)
		}
		places[i] = at
		at += lengths[i]
	}
}
