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
	"io"
	"slices"
	"strings"

	"profdiff/internal/objfile"
)

// A Store finds the object files of recordings under search paths. A nil Store finds none.
// The files stay open as long as it is used. It is not safe for concurrent use.
type Store struct {
	shared   *shared
	dirs     []*directory
	found    map[dso]*found
	archives map[string]*archive
	warnings []*warner // of what was looked for and found, in this order
}

// shared is what all views of a store have in common.
type shared struct {
	dirs    map[string]*directory
	objects map[objectKey]*Object
}

// A dso is a file that recordings name.
type dso struct{ path, buildID string }

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
	object *Object // nil if there is none
	// code is the file with the code: mostly object itself.
	code     *Object
	codeErr  error
	searched bool // for code
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

// New returns a store of the files under search paths.
func New(paths ...SearchPath) *Store {
	s := &Store{shared: &shared{dirs: make(map[string]*directory), objects: make(map[objectKey]*Object)}}
	return s.View(paths...)
}

// View returns the store with warnings of its own, which looks under these search paths too,
// after those of s.
func (s *Store) View(paths ...SearchPath) *Store {
	if s == nil {
		return New(paths...)
	}
	v := &Store{shared: s.shared, dirs: slices.Clip(s.dirs), found: make(map[dso]*found), archives: make(map[string]*archive)}
	for _, p := range paths {
		d, ok := s.shared.dirs[p.Name]
		if !ok {
			d = &directory{SearchPath: p, sources: make(map[string]*source)}
			s.shared.dirs[p.Name] = d
		}
		if !slices.Contains(v.dirs, d) {
			v.dirs = append(v.dirs, d)
		}
	}
	return v
}

// Empty reports whether there is nowhere to look for files.
func (s *Store) Empty() bool { return s == nil || len(s.dirs) == 0 }

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
// that is not "", else the one at its path or of its name. path is as recordings have
// it, also base.apk!/lib/arm64-v8a/libx.so. Of an APK that is mapped as a whole it is
// the library at an offset; base is where that starts, else 0. The error is [ErrNoFile]
// or [ErrOtherBuild].
func (s *Store) Code(path, buildID string, off uint64) (o *Object, base uint64, err error) {
	if s.Empty() {
		return nil, 0, ErrNoFile
	}
	if IsArchive(path) {
		if o, base = s.InArchive(path, off); o != nil {
			return o, base, nil
		}
		return nil, 0, ErrNoFile
	}
	known := s.find(path, buildID)
	if !known.searched {
		known.searched = true
		switch {
		case known.object != nil && hasCode(known.object.file.File):
			known.code = known.object
		case known.object != nil:
			if source := s.search(path, buildID, hasCode, known); source != nil {
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
func (s *Store) Names(path, buildID string) (*Object, error) {
	if s.Empty() {
		return nil, ErrNoFile
	}
	known := s.find(path, buildID)
	switch {
	case known.object != nil:
		return known.object, nil
	case known.codeErr != nil:
		return nil, known.codeErr
	}
	return nil, ErrNoFile
}

func (s *Store) find(path, buildID string) *found {
	key := dso{path, buildID}
	known, ok := s.found[key]
	if !ok {
		known = new(found)
		s.found[key] = known
		s.note(&known.warner)
		if source := s.search(path, buildID, anyFile, known); source != nil {
			known.object = s.object(source)
		}
	}
	return known
}

// object is the Object of a file, the same for all of its copies.
func (s *Store) object(file *source) *Object {
	key := objectKey{buildID: file.BuildID(), size: file.size}
	if key.buildID == "" || file.zipped != "" {
		key.name = file.from.Name + "!/" + file.zipped
	}
	o, ok := s.shared.objects[key]
	if !ok {
		o = &Object{file: file}
		s.shared.objects[key] = o
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
	e := archived{start: uint64(start), size: uint64(size)}
	if file, err := objfile.New(io.NewSectionReader(a.file, start, size), size); err == nil {
		e.object = s.object(&source{File: file, from: a.file, size: size, zipped: name, entry: name})
	}
	a.objects = append(a.objects, e)
	return e.object, e.start
}
