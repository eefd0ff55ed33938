package annotate

import (
	"profdiff/internal/branch"
	"profdiff/internal/objects"
	"profdiff/internal/symbolizer"
)

// A Frame is a function and a place in its source.
type Frame = symbolizer.Frame

// Frames returns for each branch of the table, in their order, the functions at
// it, innermost first; nil if these are not known. Where the recording does not have
// them they come from binaries.
func Frames(t *branch.Table, files *objects.Store) [][]Frame {
	a := newAnnotator(files)
	defer a.close()
	list := make([][]Frame, len(t.Branches))
	for i := range t.Branches {
		b := &t.Branches[i]
		list[i] = b.Inlined
		if b.ByLine || b.Inlined != nil {
			continue
		}
		if f := a.open(&functionPlace{dso: b.DSO, buildID: b.BuildID}); f.err == nil {
			list[i] = a.frames(f, b.Address)
		}
	}
	return list
}
