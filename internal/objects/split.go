package objects

import (
	"iter"
	"path"

	"profdiff/internal/objfile"
)

// addSplit completes the line table by what the compiler put into other files: a package
// beside the program, or files where the compiler ran or beside the program.
func (o *Object) addSplit(of *source) {
	o.lines.SetSplit(func(unit objfile.SplitUnit) iter.Seq[*objfile.File] {
		return func(yield func(*objfile.File) bool) {
			for f := range o.splitFiles(of, unit) {
				if !yield(f.File) {
					return
				}
			}
			// One line for all units: where one is missing, most are.
			if !o.unsplit {
				o.unsplit = true
				o.warn("%s: inlined calls are missing: the compiler put them into %s and the like, which is not here or of another build", of.from.Name, unit.Path())
			}
		}
	})
}

// splitFiles yields the files in which a unit may be.
func (o *Object) splitFiles(of *source, unit objfile.SplitUnit) iter.Seq[*source] {
	return func(yield func(*source) bool) {
		for _, program := range []*source{o.file, of} {
			if f := program.from.in.source(program.from.at + ".dwp"); f != nil && !yield(f) {
				return
			}
		}
		for _, d := range o.store.around(o.file) {
			names := []string{relative(unit.Path())}
			if d == o.file.from.in {
				dir := path.Dir(o.file.from.at)
				names = append(names, path.Join(dir, unit.Name), path.Join(dir, path.Base(unit.Name)))
			}
			for _, name := range names {
				if f := d.source(name); f != nil && !yield(f) {
					return
				}
			}
		}
	}
}
