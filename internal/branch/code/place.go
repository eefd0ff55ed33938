package code

import "profdiff/internal/perfsession"

// A Place is a place in a DSO, or in memory that no DSO has.
type Place struct {
	DSO int // DSO.ID, -1 if there is none
	Rel uint64
}

// PlaceOf finds the place of an address: offsets in files, addresses in the kernel
// image.
func PlaceOf(m *perfsession.Mapping, addr uint64) Place {
	switch {
	case m == nil:
		return Place{-1, addr}
	case m.DSO.Kernel && m.DSO.IsKernelImage():
		return Place{m.DSO.ID, addr}
	}
	return Place{m.DSO.ID, addr - m.Start + m.PgOff}
}
