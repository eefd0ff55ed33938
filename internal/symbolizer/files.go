package symbolizer

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"profdiff/internal/objfile"
)

// Files finds the object files of a recording under search paths, each once, and keeps
// them open. It is not safe for concurrent use.
type Files struct {
	search   *searcher
	warnings warner
	objects  map[fileKey]*found
	archives map[string]*archive
	open     []*foundFile
}

type fileKey struct{ path, buildID string }

// found is what became of a search.
type found struct {
	object *Object // nil if there is none
	// code is the file with the code: mostly object itself.
	code     *Object
	codeErr  error
	searched bool // for code
}

// An archive is an APK: libraries are mapped straight out of it.
type archive struct {
	file    *foundFile
	objects []archived
}

// archived is an entry of an archive.
type archived struct {
	start, size uint64
	object      *Object // nil if it is no ELF file
}

var (
	// errNoFile says that no search path has the file.
	errNoFile = errors.New("no file")
	// errNoNames says that a file has neither symbols nor debug information.
	errNoNames = errors.New("the file has no names of functions")
	// ErrOtherBuild says that the files at its places are of another build.
	ErrOtherBuild = errors.New("the file is of another build")
)

// NewFiles returns the files under search paths.
func NewFiles(paths []SearchPath) *Files {
	f := &Files{objects: make(map[fileKey]*found), archives: make(map[string]*archive)}
	f.search = newSearcher(paths, f.warnings.warn)
	return f
}

// Warnings tell of files that could not be used.
func (f *Files) Warnings() []string { return f.warnings.all }

// Close closes the files that Find opened.
func (f *Files) Close() error {
	var errs []error
	for _, c := range f.open {
		errs = append(errs, c.Close())
	}
	f.open = nil
	return errors.Join(errs...)
}

// Find returns the object file with the code of a DSO: the one with its build ID if
// that is not "", else the one at its path or of its name. path is as recordings have
// it, also base.apk!/lib/arm64-v8a/libx.so. Of an APK that is mapped as a whole it is
// the library at an offset; base is where that starts, else 0. The error is [ErrNoFile]
// or [ErrOtherBuild].
func (f *Files) Find(path, buildID string, off uint64) (o *Object, base uint64, err error) {
	if IsArchive(path) {
		if a := f.archive(path); a != nil {
			if o, base = f.inArchive(a, off); o != nil {
				return o, base, nil
			}
		}
		return nil, 0, errNoFile
	}
	known := f.find(path, buildID)
	if !known.searched {
		known.searched = true
		switch {
		case known.object != nil && hasCode(known.object.file.File):
			known.code = known.object
		case known.object != nil:
			if source := f.search.find(path, buildID, hasCode); source != nil {
				known.code = f.object(source)
			}
		}
		if known.code == nil && known.codeErr == nil {
			known.codeErr = errNoFile
		}
	}
	return known.code, 0, known.codeErr
}

// find returns the file that has the names of a DSO, with or without its code.
func (f *Files) find(path, buildID string) *found {
	key := fileKey{path, buildID}
	known, ok := f.objects[key]
	if !ok {
		known = new(found)
		f.objects[key] = known
		if source := f.search.find(path, buildID, anyFile); source != nil {
			known.object = f.object(source)
		} else if f.search.otherBuild {
			known.codeErr = ErrOtherBuild
		}
	}
	return known
}

// object is the Object of a file, which is kept open.
func (f *Files) object(file *objfileSource) *Object {
	f.keep(file.source)
	return &Object{file: file, files: f}
}

// keep notes an open file.
func (f *Files) keep(file *foundFile) {
	if !slices.Contains(f.open, file) {
		f.open = append(f.open, file)
	}
}

// hasCode reports whether a file holds code: those with debug information only do not.
func hasCode(o *objfile.File) bool {
	for _, s := range o.Segments() {
		if s.Executable && s.FileSize > 0 {
			text, ok := o.Section(".text")
			at := s.Vaddr
			if ok && text.Vaddr-s.Vaddr < s.FileSize {
				at = text.Vaddr
			}
			if _, err := o.Text(at, 1); err == nil {
				return true
			}
		}
	}
	return false
}

// IsArchive reports whether a DSO is an APK with libraries in it, by its path.
func IsArchive(path string) bool { return strings.HasSuffix(path, ".apk") }

// archive opens an APK, nil if it is not here.
func (f *Files) archive(path string) *archive {
	a, ok := f.archives[path]
	if !ok {
		if file := f.search.file(path); file != nil {
			a = &archive{file: file}
			f.keep(file)
		}
		f.archives[path] = a
	}
	return a
}

// inArchive returns the library at an offset of an archive, and where that starts.
func (f *Files) inArchive(a *archive, off uint64) (o *Object, base uint64) {
	for _, e := range a.objects {
		if off-e.start < e.size {
			return e.object, e.start
		}
	}
	name, start, size, ok := objfile.ZipEntryAtOffset(a.file, a.file.size, off)
	if !ok {
		return nil, 0
	}
	e := archived{start: uint64(start), size: uint64(size)}
	if file, err := objfile.New(io.NewSectionReader(a.file, start, size), size); err == nil {
		e.object = f.object(&objfileSource{File: file, source: a.file, zipped: true})
		e.object.entry = name
	}
	a.objects = append(a.objects, e)
	return e.object, e.start
}

// File is the file that has the code.
func (o *Object) File() *objfile.File { return o.file.File }

// Name is the search path and the name in it, for messages.
func (o *Object) Name() string { return o.file.source.name }

// Entry is the name of the file in the archive that the DSO is, "" if the DSO is none.
func (o *Object) Entry() string { return o.entry }

// Path is where the file is on this machine; ok is false if it is not a file of its own.
func (o *Object) Path() (name string, ok bool) {
	file, ok := o.file.source.File.(*os.File)
	if !ok || o.file.zipped {
		return "", false
	}
	return file.Name(), true
}

// Symbols come from the separate debug file if there is one, else from the file; nil if
// there are none.
func (o *Object) Symbols() *objfile.SymbolTable {
	o.load()
	return o.symbols
}

// Lines is the line table, likewise.
func (o *Object) Lines() *objfile.LineTable {
	o.load()
	return o.lines
}

// load reads what the object file and its separate debug file have, once.
func (o *Object) load() {
	f := o.files
	if o.loaded || f == nil {
		return
	}
	o.loaded = true
	for _, source := range []*objfileSource{f.search.debugFile(o.file), o.file} {
		if source == nil {
			continue
		}
		f.keep(source.source)
		if o.symbols == nil {
			if t, err := source.Symbols(); err == nil {
				o.symbols = t
				if err := t.Skipped(); err != nil {
					f.warnings.warn("%s: %v", source.source.name, err)
				}
			} else if !errors.Is(err, objfile.ErrNotFound) {
				f.warnings.warn("%s: symbols: %v", source.source.name, err)
			}
		}
		if o.lines == nil {
			if t, err := source.Lines(); err == nil {
				o.lines = t
				f.addSupplementary(source, t)
			} else if !errors.Is(err, objfile.ErrNotFound) && !errors.Is(err, objfile.ErrUnsupported) {
				f.warnings.warn("%s: debug information: %v", source.source.name, err)
			}
		}
	}
}

// Functions yields the functions whose code a DSO has, once or more often, whether or not an
// address of them is known: first by the symbols, without their source file, then by the
// debug information, with those that were only inlined. A file without symbols of its own
// has those that it exports. The error is that of [Files.Find], or says that there are no
// names.
func (f *Files) Functions(path, buildID string) (iter.Seq[Frame], error) {
	known := f.find(path, buildID)
	if known.object == nil {
		return nil, cmp.Or(known.codeErr, errNoFile)
	}
	names := []iter.Seq[string]{}
	for _, source := range []*objfileSource{known.object.file, f.search.debugFile(known.object.file)} {
		if source == nil {
			continue
		}
		f.keep(source.source)
		if list, err := source.FunctionNames(); err == nil {
			names = append(names, list)
		}
	}
	lines := known.object.Lines()
	if len(names) == 0 && lines == nil {
		return nil, errNoNames
	}
	return func(yield func(Frame) bool) {
		for _, list := range names {
			for name := range list {
				if !yield(Frame{Name: Demangle(name), SystemName: name}) {
					return
				}
			}
		}
		if lines == nil {
			return
		}
		for l := range lines.Functions() {
			frame := Frame{Name: l.Name, SystemName: l.Name, File: l.File, StartLine: int64(l.StartLine)}
			if l.LinkageName != "" {
				frame.Name, frame.SystemName = Demangle(l.LinkageName), l.LinkageName
			}
			if !yield(frame) {
				return
			}
		}
	}, nil
}

// addSupplementary completes a line table by the file that a distribution's debug
// files share, if there is one.
func (f *Files) addSupplementary(of *objfileSource, t *objfile.LineTable) {
	name, id, ok := of.AltDebugLink()
	if !ok {
		return
	}
	if sup := f.search.supplementary(of, name, id); sup != nil {
		f.keep(sup.source)
		if lines, err := sup.Lines(); err == nil {
			t.SetSupplementary(lines)
			return
		}
	}
	f.warnings.warn("%s: names of functions are missing: the file %s that it refers to is not here", of.source.name, name)
}

// ParseKallsyms reads a copy of /proc/kallsyms.
func ParseKallsyms(r io.Reader) (*objfile.SymbolTable, error) { return objfile.ParseKallsyms(r) }
