package symbolizer

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"profdiff/internal/objfile"
)

// SearchPath is a directory with object files: a copy of a device's file system,
// a binary_cache of simpleperf, a build's symbols, perf's ~/.debug, or any folder.
type SearchPath struct {
	Name string // for messages
	FS   fs.FS
}

// maxIndexed bounds how many files of a directory are looked at for their build
// IDs.
const maxIndexed = 100_000

// A searcher finds object files under the search paths.
type searcher struct {
	paths []SearchPath
	// byID holds the files of each path by build ID, made when first asked for.
	byID  []map[string][]string
	lists []map[string]string // of build_id_list files, likewise
	warn  func(format string, args ...any)
	// otherBuild is set if the latest find came across a file of another build.
	otherBuild bool
}

func newSearcher(paths []SearchPath, warn func(string, ...any)) *searcher {
	return &searcher{
		paths: paths, warn: warn,
		byID: make([]map[string][]string, len(paths)), lists: make([]map[string]string, len(paths)),
	}
}

// A foundFile is an open file with the name under which it was found.
type foundFile struct {
	fs.File
	io.ReaderAt
	size int64
	name string
	path int // index in searcher.paths
}

// open opens a regular file that can be read at random.
func (s *searcher) open(i int, name string) (*foundFile, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	f, err := s.paths[i].FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	info, err := f.Stat()
	if err != nil || !ok || !info.Mode().IsRegular() {
		f.Close()
		return nil, fs.ErrNotExist
	}
	return &foundFile{File: f, ReaderAt: at, size: info.Size(), name: s.paths[i].Name + "/" + name, path: i}, nil
}

// find opens the object file for a file of the recorded machine: one that has the
// build ID, or, if the recording has none, one at the same path or of the same
// name. Files that are not wanted are passed over. It returns nil if there is none.
func (s *searcher) find(file, buildID string, want func(*objfile.File) bool) *objfileSource {
	s.otherBuild = false
	wanted := func(o *objfileSource) bool {
		if o != nil && !want(o.File) {
			o.source.Close()
			return false
		}
		return o != nil
	}
	file = strings.TrimSuffix(file, " (deleted)") // replaced while it was in use
	apk, entry, inAPK := strings.Cut(file, "!/")
	relative := strings.TrimPrefix(path.Clean("/"+file), "/")
	for i := range s.paths {
		if buildID != "" {
			for _, name := range s.idNames(i, buildID) {
				if o := s.object(i, name, buildID, false); wanted(o) {
					return o
				}
			}
		}
		if inAPK {
			if o := s.zipped(i, strings.TrimPrefix(path.Clean("/"+apk), "/"), entry, buildID); wanted(o) {
				return o
			}
			relative = path.Base(entry)
		}
		for _, name := range []string{relative, path.Base(relative)} {
			if o := s.object(i, name, buildID, name == relative); wanted(o) {
				return o
			}
		}
		if buildID != "" {
			for _, name := range s.index(i)[TrimBuildID(buildID)] {
				if o := s.object(i, name, buildID, false); wanted(o) {
					return o
				}
			}
		}
	}
	return nil
}

// anyFile wants all files, also those with symbols and debug information only.
func anyFile(*objfile.File) bool { return true }

// idNames lists where files with a build ID are by convention: of GDB and
// distributions, of perf's cache, of simpleperf's binary_cache.
func (s *searcher) idNames(i int, buildID string) []string {
	names := []string{}
	if len(buildID) > 2 {
		at := ".build-id/" + buildID[:2] + "/" + buildID[2:]
		names = append(names, at+"/elf", at+".debug", "usr/lib/debug/"+at+".debug", at)
	}
	if name, ok := s.list(i)[TrimBuildID(buildID)]; ok {
		names = append(names, name)
	}
	return names
}

// list reads simpleperf's build_id_list: lines of 0xID=PATH.
func (s *searcher) list(i int) map[string]string {
	if s.lists[i] != nil {
		return s.lists[i]
	}
	s.lists[i] = make(map[string]string)
	f, err := s.open(i, "build_id_list")
	if err != nil {
		return s.lists[i]
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), "="); ok {
			s.lists[i][TrimBuildID(strings.TrimPrefix(id, "0x"))] = strings.TrimPrefix(path.Clean("/"+name), "/")
		}
	}
	return s.lists[i]
}

// index finds the build IDs of all object files below a search path, unless that is
// the root of a system. Separate debug files have the ID of the file they are of.
func (s *searcher) index(i int) map[string][]string {
	if s.byID[i] != nil {
		return s.byID[i]
	}
	index := make(map[string][]string)
	s.byID[i] = index
	if _, err := fs.Stat(s.paths[i].FS, "proc/self"); err == nil {
		return index
	}
	n := 0
	err := fs.WalkDir(s.paths[i].FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if n++; n > maxIndexed {
			return errTooMany
		}
		if id := s.buildID(i, name); id != "" {
			index[TrimBuildID(id)] = append(index[TrimBuildID(id)], name)
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		s.warn("%s has more than %d files: build IDs of the rest were not looked at", s.paths[i].Name, maxIndexed)
	}
	return index
}

var errTooMany = errors.New("too many files")

func (s *searcher) buildID(i int, name string) string {
	f, err := s.open(i, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	o, err := objfile.New(f, f.size)
	if err != nil {
		return ""
	}
	return o.BuildID()
}

// objfileSource is an object file and what it was read from.
type objfileSource struct {
	*objfile.File
	source *foundFile
	zipped bool // the source is an archive with the file in it
}

// object opens an ELF file if it has the build ID. A file at the recorded path with
// another ID is worth a warning: it is of another build.
func (s *searcher) object(i int, name, buildID string, warn bool) *objfileSource {
	f, err := s.open(i, name)
	if err != nil {
		return nil
	}
	o, err := objfile.New(f, f.size)
	if err != nil {
		f.Close()
		return nil
	}
	if !s.matches(o, buildID, f.name, warn) {
		f.Close()
		return nil
	}
	return &objfileSource{File: o, source: f}
}

// matches reports whether o, which is called name, has the build ID.
func (s *searcher) matches(o *objfile.File, buildID, name string, warn bool) bool {
	id := o.BuildID()
	if buildID == "" || TrimBuildID(id) == TrimBuildID(buildID) {
		return true
	}
	s.otherBuild = true
	if warn {
		s.warn("%s is not used: its build ID is %s, that of the recording %s", name, cmp.Or(id, "absent"), buildID)
	}
	return false
}

// zipped opens a library stored in an APK.
func (s *searcher) zipped(i int, apk, entry, buildID string) *objfileSource {
	for _, name := range []string{apk, path.Base(apk)} {
		f, err := s.open(i, name)
		if err != nil {
			continue
		}
		section, err := objfile.OpenZipEntry(f, f.size, entry)
		if err == nil {
			if o, err := objfile.New(section, section.Size()); err == nil && s.matches(o, buildID, f.name+"!/"+entry, name == apk) {
				return &objfileSource{File: o, source: f, zipped: true}
			}
		}
		f.Close()
	}
	return nil
}

// file opens any file of the recorded machine by path or by name.
func (s *searcher) file(name string) *foundFile {
	relative := strings.TrimPrefix(path.Clean("/"+name), "/")
	for i := range s.paths {
		for _, name := range []string{relative, path.Base(relative)} {
			if f, err := s.open(i, name); err == nil {
				return f
			}
		}
	}
	return nil
}

// debugFile opens the separate debug file of an object.
func (s *searcher) debugFile(o *objfileSource) *objfileSource {
	i := o.source.path
	id := o.BuildID()
	var names []string
	if len(id) > 2 {
		at := ".build-id/" + id[:2] + "/" + id[2:] + ".debug"
		names = append(names, at, "usr/lib/debug/"+at)
	}
	if link, _, ok := o.DebugLink(); ok && path.Base(link) == link {
		dir := path.Dir(strings.TrimPrefix(o.source.name, s.paths[i].Name+"/"))
		names = append(names, path.Join(dir, link), path.Join(dir, ".debug", link), path.Join("usr/lib/debug", dir, link))
	}
	for _, name := range names {
		if d := s.object(i, name, id, false); d != nil {
			if d.source.name != o.source.name {
				return d
			}
			d.source.Close()
		}
	}
	return nil
}

// supplementary opens the file that .gnu_debugaltlink of o names.
func (s *searcher) supplementary(o *objfileSource, name, buildID string) *objfileSource {
	i := o.source.path
	dir := path.Dir(strings.TrimPrefix(o.source.name, s.paths[i].Name+"/"))
	names := append(s.idNames(i, buildID), path.Join(dir, name), strings.TrimPrefix(path.Clean("/"+name), "/"))
	for _, name := range names {
		if f := s.object(i, name, buildID, false); f != nil {
			return f
		}
	}
	return nil
}

// TrimBuildID removes the zeros with which recorders fill up build IDs of less than 20
// bytes.
func TrimBuildID(id string) string {
	for strings.HasSuffix(id, "00000000") {
		id = id[:len(id)-8]
	}
	return id
}

// warner collects warnings, each once.
type warner struct {
	seen map[string]bool
	all  []string
}

func (w *warner) warn(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if !w.seen[msg] {
		if w.seen == nil {
			w.seen = make(map[string]bool)
		}
		w.seen[msg] = true
		w.all = append(w.all, msg)
	}
}
