package branch

import (
	"debug/dwarf"
	"debug/elf"
	"io"
	"slices"

	"profdiff/internal/objfile"
	"profdiff/internal/symbolizer"
)

// A Frame is a function and a place in its source.
type Frame = symbolizer.Frame

// A SourcePlace is where in the source a branch is.
type SourcePlace struct {
	// Frames are the functions at the branch, innermost first; nil if unknown.
	Frames []Frame
	// Discriminator tells blocks of one line apart, as in the line table (DWARF 4,
	// 6.2.2); 0 if there is none.
	Discriminator uint32
}

// SourcePlaces returns those of the branches of the table, in their order. Binaries are
// looked for under the search paths: for the frames of branches of which the recording
// does not have them, and for discriminators.
func (t *Table) SourcePlaces(paths []symbolizer.SearchPath) []SourcePlace {
	a := &annotator{paths: paths, files: make(map[dsoKey]*annotatedFile)}
	defer a.close()
	z := symbolizer.New(symbolizer.Options{Symfs: paths})
	list := make([]SourcePlace, len(t.Branches))
	lines := make(map[*annotatedFile]*discriminators)
	for i := range t.Branches {
		b := &t.Branches[i]
		list[i].Frames = b.Inlined
		if b.ByLine {
			continue
		}
		f := a.open(&functionPlace{dso: b.DSO, buildID: b.BuildID})
		if f.err != nil {
			continue
		}
		if b.Inlined == nil {
			list[i].Frames = f.frames(z, b.Address)
		}
		d := lines[f]
		if d == nil {
			d = newDiscriminators(f.file)
			lines[f] = d
		}
		list[i].Discriminator = d.at(b.Address)
	}
	return list
}

// discriminators are those of a file.
type discriminators struct {
	units []unitRows
}

// unitRows are the rows of a unit, by address.
type unitRows struct {
	ranges [][2]uint64
	rows   []dwarf.LineEntry
}

// newDiscriminators reads the line tables of a file. What cannot be read has none.
func newDiscriminators(f *objfile.File) (d *discriminators) {
	d = &discriminators{}
	// Package debug/elf does not promise to withstand hostile files.
	defer func() {
		if recover() != nil {
			d = &discriminators{}
		}
	}()
	file, err := elf.NewFile(f.ReaderAt())
	if err != nil {
		return d
	}
	data, err := file.DWARF()
	if err != nil {
		return d
	}
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return d
		}
		r.SkipChildren()
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := data.Ranges(e)
		if err != nil || len(ranges) == 0 {
			continue
		}
		if u := readUnit(data, e, ranges); u != nil {
			d.units = append(d.units, *u)
		}
	}
}

// readUnit returns the rows of a unit, nil if none has a discriminator.
func readUnit(data *dwarf.Data, e *dwarf.Entry, ranges [][2]uint64) *unitRows {
	lines, err := data.LineReader(e)
	if err != nil || lines == nil {
		return nil
	}
	u := &unitRows{ranges: ranges}
	any := false
	for {
		var row dwarf.LineEntry
		switch err := lines.Next(&row); err {
		case nil:
			row.File = nil
			u.rows = append(u.rows, row)
			any = any || row.Discriminator != 0
			continue
		case io.EOF:
		default:
			return nil
		}
		break
	}
	if !any {
		return nil
	}
	slices.SortStableFunc(u.rows, func(a, b dwarf.LineEntry) int {
		switch {
		case a.Address < b.Address:
			return -1
		case a.Address > b.Address:
			return 1
		}
		return 0
	})
	return u
}

// at returns the discriminator of the code at an address.
func (d *discriminators) at(vaddr uint64) uint32 {
	for i := range d.units {
		u := &d.units[i]
		if !slices.ContainsFunc(u.ranges, func(r [2]uint64) bool { return vaddr >= r[0] && vaddr < r[1] }) {
			continue
		}
		n, _ := slices.BinarySearchFunc(u.rows, vaddr, func(row dwarf.LineEntry, vaddr uint64) int {
			if row.Address <= vaddr {
				return -1
			}
			return 1
		})
		if n > 0 && !u.rows[n-1].EndSequence {
			return uint32(u.rows[n-1].Discriminator)
		}
	}
	return 0
}
