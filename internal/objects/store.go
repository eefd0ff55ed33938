// Package objects finds the object files that recordings name, and keeps what was read of them.
//
//  1. A command has one [Store]. What reads a recording asks it for the file of a path and a
//     build ID; so do listings, branches and predictions, which then get the same file.
//  2. A file is looked for under search paths: by its build ID where conventions put such
//     files, then by its path, its name, and by the build IDs of all files there.
//  3. A file is opened once, whatever its name: copies with one build ID and size are one
//     [Object]. Its symbols and lines are parsed when they are first asked for.
//  4. Sides of a comparison with search paths of their own, and recordings, which have
//     warnings of their own, see the store through a view ([Store.View]).
package objects

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"profdiff/internal/debuginfod"
	"profdiff/internal/objfile"
)

// A Fetcher gets files that are not on this machine: a debuginfod.Client.
type Fetcher interface {
	// Find returns where a file with a build ID is kept. name is what the recording calls it.
	Find(kind debuginfod.Kind, buildID, name string) (path string, err error)
}

// Options say where object files are.
type Options struct {
	// Symfs are directories with object files, in order of preference.
	Symfs []SearchPath
	// Machine has the files of this machine, nil for none.
	Machine *Machine
	// Fetcher gets what is not here, nil if nothing does.
	Fetcher Fetcher
}

// A Store finds the object files of recordings. A nil Store finds none. The files stay open as
// long as it is used. It is not safe for concurrent use, but for views that take turns: see
// [Store.InTurn].
type Store struct {
	*shared
	dirs      []*directory // by kind
	lists     []string     // of symbols of the kernel, beside recordings
	recording Recording
	one       bool // of a recording
	found     map[dso]*found
	archives  map[string]*archive
	warnings  []*warner // of what was looked for and found, in this order
	turn      func()    // see InTurn, nil if there is none
}

// shared is what all views of a store have in common.
type shared struct {
	machine     *Machine
	fetcher     Fetcher
	mu          sync.Mutex // of the next two, which need no turn
	directories map[string]*directory
	kallsyms    map[string]kallsyms // beside recordings, by name
	objects     map[objectKey]*Object
	known       map[dso]*known
}

// A dso is a file that recordings name.
type dso struct {
	path, buildID string
	inode         uint64
}

// known is what became of the file of a path and build ID in all views.
type known struct {
	object  *Object
	several bool // views found several, or one refused what another took
	tries   []Try
}

// A Try is a place where a file was looked for.
type Try struct {
	Place string
	Why   string // the file there is not used, "" if there is none
}

// An objectKey tells files apart: by build ID and size, or else by where they are. A program
// and its separate debug file have one build ID.
type objectKey struct {
	buildID string
	size    int64
	name    string // "" of a file of its own with a build ID
}

// found is what became of a search.
type found struct {
	warner
	tries  []Try
	object *Object // nil if there is none
	// code is the file with the code: mostly object itself.
	code     *Object
	codeErr  error
	searched bool // for code
	// unchanged is set if inode and time tell that it is the file, and no build ID does.
	unchanged bool
}

// try notes where a file was looked for, without the last answer for a place if that says more.
func (f *found) try(place, why string) {
	for i := range f.tries {
		if f.tries[i].Place == place {
			return
		}
	}
	f.tries = append(f.tries, Try{place, why})
}

// An archive is an APK: libraries are mapped straight out of it.
type archive struct {
	file    *File
	objects []archived
}

// archived is an entry of an archive.
type archived struct {
	start, size uint64
	object      *Object // nil if it is no ELF file
}

var (
	// ErrNoFile says that no search path has the file.
	ErrNoFile = errors.New("no file")
	// ErrOtherBuild says that the files at its places are of another build.
	ErrOtherBuild = errors.New("the file is of another build")
)

// New returns a store of the files that the options name.
func New(opt Options) *Store {
	all := &shared{
		machine: opt.Machine, fetcher: opt.Fetcher, directories: make(map[string]*directory), kallsyms: make(map[string]kallsyms),
		objects: make(map[objectKey]*Object), known: make(map[dso]*known),
	}
	s := &Store{shared: all}
	if m := opt.Machine; m != nil {
		s.dirs = append(s.dirs, m.root)
		if m.cache != nil {
			s.dirs = append(s.dirs, m.cache)
		}
	} else {
		all.machine = &Machine{}
	}
	return s.View(opt.Symfs...)
}

// View returns the store with warnings of its own, which looks under these search paths too,
// after those that s was given.
func (s *Store) View(paths ...SearchPath) *Store {
	if s == nil {
		return New(Options{Symfs: paths})
	}
	v := &Store{shared: s.shared, dirs: slices.Clone(s.dirs), lists: slices.Clone(s.lists), recording: s.recording, one: s.one, turn: s.turn, found: make(map[dso]*found), archives: make(map[string]*archive)}
	for _, p := range paths {
		v.add(s.directory(p, given))
	}
	return v
}

// Again returns a store of the files that the options name, which looks for them once more and keeps what s
// read of those that it found: while a recording grows, files come to lie beside it.
func (s *Store) Again(opt Options) *Store {
	fresh := New(opt)
	if s != nil {
		fresh.objects, fresh.kallsyms = s.objects, s.kallsyms
	}
	return fresh
}

// InTurn returns a view that calls wait before it looks for a file: what is found depends on what
// was asked for before, so that recordings that are read at the same time ask one after the
// other, in their order.
func (s *Store) InTurn(wait func()) *Store {
	v := s.View()
	v.turn = wait
	return v
}

// Await waits for the turn of the view, for what goes with its files and takes turns, too.
func (s *Store) Await() {
	if s != nil && s.turn != nil {
		s.turn()
	}
}

// Of returns the view of a recording: with warnings of its own, with the files beside it, and
// knowing when and where it was made.
func (s *Store) Of(r Recording) *Store {
	v := s.Beside(r.Dir)
	v.recording, v.one = r, true
	return v
}

// add adds a directory behind those of its kind.
func (s *Store) add(d *directory) {
	if slices.Contains(s.dirs, d) {
		return
	}
	i := 0
	for i < len(s.dirs) && s.dirs[i].kind <= d.kind {
		i++
	}
	s.dirs = slices.Insert(s.dirs, i, d)
}

// directory is a search path, the same for all views.
func (s *shared) directory(p SearchPath, kind kind) *directory {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.directories[p.Name]
	if !ok {
		d = newDirectory(p, kind)
		s.directories[p.Name] = d
	}
	return d
}

// Kernels are the lists of symbols that this machine has of kernels, nil if there are none.
func (s *Store) Kernels() *Kernels {
	if s == nil {
		return nil
	}
	return s.machine.kernels
}

// Empty reports whether there is nowhere to look for files.
func (s *Store) Empty() bool { return s == nil || len(s.dirs) == 0 && s.fetcher == nil }

// Tried says where a file was looked for in vain, by the latest recording that has it.
func (s *Store) Tried(path, buildID string) []Try {
	if s == nil {
		return nil
	}
	s.Await()
	if k := s.known[dso{path: path, buildID: buildID}]; k != nil && k.object == nil {
		return k.tries
	}
	return nil
}

// Warnings tell of files that could not be used, of those that this view was asked for.
func (s *Store) Warnings() (all []string) {
	if s == nil {
		return nil
	}
	for _, w := range s.warnings {
		for _, text := range w.all {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// note keeps the warnings of what was looked for.
func (s *Store) note(w *warner) {
	if !slices.Contains(s.warnings, w) {
		s.warnings = append(s.warnings, w)
	}
}

// Code returns the object file with the code of a DSO: the one with its build ID if
// that is not "", else the one at its path or of its name. Of an APK that is mapped as a whole it is
// the library at an offset; base is where that starts, else 0. The error is [ErrNoFile]
// or [ErrOtherBuild].
func (s *Store) Code(file Recorded, off uint64) (o *Object, base uint64, err error) {
	if s.Empty() {
		return nil, 0, ErrNoFile
	}
	if IsArchive(file.Path) {
		if o, base = s.InArchive(file.Path, off); o != nil {
			return o, base, nil
		}
		return nil, 0, ErrNoFile
	}
	known := s.find(&file)
	if !known.searched {
		known.searched = true
		switch {
		case known.object != nil && hasCode(known.object.file.File):
			known.code = known.object
		case known.object != nil:
			if source := s.search(&file, hasCode, known); source != nil {
				known.code = s.object(source)
			}
		}
		if known.code == nil && known.codeErr == nil {
			known.codeErr = ErrNoFile
		}
	}
	return known.code, 0, known.codeErr
}

// Names returns the file that has the names of a DSO, with or without its code. The error is
// [ErrNoFile] or [ErrOtherBuild].
func (s *Store) Names(file Recorded) (*Object, error) {
	if s.Empty() {
		return nil, ErrNoFile
	}
	known := s.find(&file)
	switch {
	case known.object != nil:
		return known.object, nil
	case known.codeErr != nil:
		return nil, known.codeErr
	}
	return nil, ErrNoFile
}

// Open returns the file called name on this machine, whatever recordings call it.
func (s *Store) Open(name string) (*Object, error) {
	s.Await()
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, errors.Unwrap(err))
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", name)
	}
	dir, base := filepath.Split(filepath.Clean(name))
	dir = filepath.Clean(dir)
	d := s.directory(SearchPath{Name: dir, FS: os.DirFS(dir)}, cached)
	f, err := d.open(base)
	if err != nil {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	file, err := objfile.New(f, f.Size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s.object(&source{File: file, from: f, size: f.Size}), nil
}

func (s *Store) find(file *Recorded) *found {
	s.Await()
	key := dso{file.Path, file.BuildID, file.Inode}
	f, ok := s.found[key]
	if ok {
		return f
	}
	f = new(found)
	s.found[key] = f
	s.note(&f.warner)
	// Who knows no more of the file gets what the recordings have.
	all := s.known[dso{path: file.Path, buildID: file.BuildID}]
	vague := file.BuildID == "" && file.Inode == 0 && file.Mapped == nil
	if all != nil && vague {
		if f.codeErr = ErrOtherBuild; !all.several {
			f.object, f.codeErr = all.object, nil
		}
		return f
	}
	if source := s.search(file, anyFile, f); source != nil {
		f.object, f.codeErr = s.object(source), nil
		s.unsure(file, source, f)
	}
	if all == nil {
		all = &known{object: f.object}
		s.known[dso{path: file.Path, buildID: file.BuildID}] = all
	}
	all.tries = f.tries
	switch {
	case f.object == all.object:
	case file.BuildID == "":
		all.several = true
	case f.object == nil:
		f.object, f.codeErr = all.object, nil
	case all.object == nil:
		all.object = f.object
	}
	return f
}

// Unchanged reports whether a file is taken for the recorded one because it has its inode and
// was not changed since, for want of a build ID.
func (s *Store) Unchanged(file Recorded) bool {
	if s == nil {
		return false
	}
	f := s.found[dso{file.Path, file.BuildID, file.Inode}]
	return f != nil && f.unchanged
}

// unsure warns of a file that is taken without a build ID, unless that is as good as sure.
func (s *Store) unsure(file *Recorded, source *source, f *found) {
	if file.BuildID != "" || !s.one || source.zipped != "" || strings.HasPrefix(file.Path, "[") {
		return
	}
	if info, err := source.from.Stat(); err == nil && file.Inode != 0 {
		if device, inode := inodeOf(info); device == file.Device && inode == file.Inode {
			f.unchanged = true
			return
		}
	}
	by := "its path alone"
	if len(file.Mapped) > 0 {
		by = "its path and by where its code is mapped"
	}
	f.warn("%s is taken for the recorded file by %s: there is no build ID", source.title(), by)
}

// object is the Object of a file, the same for all of its copies.
func (s *Store) object(file *source) *Object {
	key := objectKey{buildID: file.BuildID(), size: file.size}
	if key.buildID == "" || file.zipped != "" {
		key.name = file.from.Name + "!/" + file.zipped
	}
	o, ok := s.objects[key]
	if !ok {
		o = &Object{file: file, store: s}
		s.objects[key] = o
	}
	s.note(&o.warner)
	return o
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
func (s *Store) archive(path string) *archive {
	if s.Empty() {
		return nil
	}
	a, ok := s.archives[path]
	if !ok {
		if file := s.File(path); file != nil {
			a = &archive{file: file}
		}
		s.archives[path] = a
	}
	return a
}

// HasArchive reports whether an APK is here.
func (s *Store) HasArchive(path string) bool { return s.archive(path) != nil }

// InArchive returns the library at an offset of an APK, and where that starts; nil if there
// is none.
func (s *Store) InArchive(path string, off uint64) (o *Object, base uint64) {
	a := s.archive(path)
	if a == nil {
		return nil, 0
	}
	for _, e := range a.objects {
		if off-e.start < e.size {
			return e.object, e.start
		}
	}
	name, start, size, ok := objfile.ZipEntryAtOffset(a.file, a.file.Size, off)
	if !ok {
		return nil, 0
	}
	s.Await() // objects are shared
	e := archived{start: uint64(start), size: uint64(size)}
	if file, err := objfile.New(io.NewSectionReader(a.file, start, size), size); err == nil {
		e.object = s.object(&source{File: file, from: a.file, size: size, zipped: name, entry: name})
	}
	a.objects = append(a.objects, e)
	return e.object, e.start
}
