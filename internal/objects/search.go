package objects

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
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

// A directory is a search path with what is known of it.
type directory struct {
	SearchPath
	warner
	// byID holds the files by build ID, list those of build_id_list, each made when it is
	// first asked for.
	byID    map[string][]string
	list    map[string]string
	sources map[string]*source // that are open, by name
}

// A File is an open file that can be read at random.
type File struct {
	fs.File
	io.ReaderAt
	Size int64
	Name string // with the search path, for messages
	in   *directory
	at   string // in the directory
}

// A source is an object file and what it is read from.
type source struct {
	*objfile.File
	from   *File
	size   int64
	zipped string // name in the archive that from is, "" if it is none
	entry  string // likewise, if the DSO is the archive
}

// open opens a regular file.
func (d *directory) open(name string) (*File, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	f, err := d.FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	info, err := f.Stat()
	if err != nil || !ok || !info.Mode().IsRegular() {
		f.Close()
		return nil, fs.ErrNotExist
	}
	return &File{File: f, ReaderAt: at, Size: info.Size(), Name: d.Name + "/" + name, in: d, at: name}, nil
}

// relative is a path of the recorded machine below a search path.
func relative(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// A search looks for the file of a DSO.
type search struct {
	buildID string // "" if it is not known
	want    func(*objfile.File) bool
	*found
}

// search opens the object file for a file of the recorded machine: one that has the
// build ID, or, if the recording has none, one at the same path or of the same
// name. Files that are not wanted are passed over. It returns nil if there is none.
func (s *Store) search(file, buildID string, want func(*objfile.File) bool, result *found) *source {
	q := &search{buildID, want, result}
	file = strings.TrimSuffix(file, " (deleted)") // replaced while it was in use
	apk, entry, inAPK := strings.Cut(file, "!/")
	at := relative(file)
	for _, d := range s.dirs {
		if buildID != "" {
			for _, name := range d.idNames(buildID) {
				if o := q.object(d, name, false); o != nil {
					return o
				}
			}
		}
		if inAPK {
			if o := q.zipped(d, relative(apk), entry); o != nil {
				return o
			}
			at = path.Base(entry)
		}
		for _, name := range []string{at, path.Base(at)} {
			if o := q.object(d, name, name == at); o != nil {
				return o
			}
		}
		if buildID != "" {
			names := d.index()[TrimBuildID(buildID)]
			s.note(&d.warner)
			for _, name := range names {
				if o := q.object(d, name, false); o != nil {
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
func (d *directory) idNames(buildID string) []string {
	names := []string{}
	if len(buildID) > 2 {
		at := ".build-id/" + buildID[:2] + "/" + buildID[2:]
		names = append(names, at+"/elf", at+".debug", "usr/lib/debug/"+at+".debug", at)
	}
	if name, ok := d.listed()[TrimBuildID(buildID)]; ok {
		names = append(names, name)
	}
	return names
}

// listed reads simpleperf's build_id_list: lines of 0xID=PATH.
func (d *directory) listed() map[string]string {
	if d.list != nil {
		return d.list
	}
	d.list = make(map[string]string)
	f, err := d.open("build_id_list")
	if err != nil {
		return d.list
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), "="); ok {
			d.list[TrimBuildID(strings.TrimPrefix(id, "0x"))] = relative(name)
		}
	}
	return d.list
}

// index finds the build IDs of all object files below a search path, unless that is
// the root of a system. Separate debug files have the ID of the file they are of.
func (d *directory) index() map[string][]string {
	if d.byID != nil {
		return d.byID
	}
	d.byID = make(map[string][]string)
	if _, err := fs.Stat(d.FS, "proc/self"); err == nil {
		return d.byID
	}
	n := 0
	err := fs.WalkDir(d.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if n++; n > maxIndexed {
			return errTooMany
		}
		if id := d.buildID(name); id != "" {
			d.byID[TrimBuildID(id)] = append(d.byID[TrimBuildID(id)], name)
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		d.warn("%s has more than %d files: build IDs of the rest were not looked at", d.Name, maxIndexed)
	}
	return d.byID
}

var errTooMany = errors.New("too many files")

func (d *directory) buildID(name string) string {
	f, err := d.open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	o, err := objfile.New(f, f.Size)
	if err != nil {
		return ""
	}
	return o.BuildID()
}

// source opens an ELF file, nil if it is none.
func (d *directory) source(name string) *source {
	if known, ok := d.sources[name]; ok {
		return known
	}
	f, err := d.open(name)
	if err != nil {
		return nil
	}
	o, err := objfile.New(f, f.Size)
	if err != nil {
		f.Close()
		return nil
	}
	d.sources[name] = &source{File: o, from: f, size: f.Size}
	return d.sources[name]
}

// object opens an ELF file if it is the right one. A file at the recorded path with
// another ID is worth a warning: it is of another build.
func (q *search) object(d *directory, name string, warn bool) *source {
	o := d.source(name)
	if o == nil || !q.matches(o, o.from.Name, warn) {
		return nil
	}
	return o
}

// matches reports whether o, which is called name, has the build ID and is wanted.
func (q *search) matches(o *source, name string, warn bool) bool {
	id := o.BuildID()
	if q.buildID == "" || TrimBuildID(id) == TrimBuildID(q.buildID) {
		return q.want(o.File)
	}
	q.codeErr = ErrOtherBuild
	if warn {
		q.warn("%s is not used: its build ID is %s, that of the recording %s", name, cmp.Or(id, "absent"), q.buildID)
	}
	return false
}

// zipped opens a library stored in an APK.
func (q *search) zipped(d *directory, apk, entry string) *source {
	for _, name := range []string{apk, path.Base(apk)} {
		f, err := d.open(name)
		if err != nil {
			continue
		}
		section, err := objfile.OpenZipEntry(f, f.Size, entry)
		if err == nil {
			if file, err := objfile.New(section, section.Size()); err == nil {
				o := &source{File: file, from: f, size: section.Size(), zipped: entry}
				if q.matches(o, f.Name+"!/"+entry, name == apk) {
					return o
				}
			}
		}
		f.Close()
	}
	return nil
}

// File opens any file of the recorded machine by its path or its name, nil if there is none.
// The caller closes it.
func (s *Store) File(name string) *File {
	if s.Empty() {
		return nil
	}
	at := relative(name)
	for _, d := range s.dirs {
		for _, name := range []string{at, path.Base(at)} {
			if f, err := d.open(name); err == nil {
				return f
			}
		}
	}
	return nil
}

// debugFile opens the separate debug file of an object.
func (o *source) debugFile() *source {
	id := o.BuildID()
	var names []string
	if len(id) > 2 {
		at := ".build-id/" + id[:2] + "/" + id[2:] + ".debug"
		names = append(names, at, "usr/lib/debug/"+at)
	}
	if link, _, ok := o.DebugLink(); ok && path.Base(link) == link {
		dir := path.Dir(o.from.at)
		names = append(names, path.Join(dir, link), path.Join(dir, ".debug", link), path.Join("usr/lib/debug", dir, link))
	}
	for _, name := range names {
		if d := o.from.in.withID(name, id); d != nil && d != o {
			return d
		}
	}
	return nil
}

// withID opens a file if it has the build ID, or any if that is "".
func (d *directory) withID(name, buildID string) *source {
	q := &search{buildID, anyFile, new(found)}
	return q.object(d, name, false)
}

// supplementary opens the file that .gnu_debugaltlink of o names.
func (o *source) supplementary(name, buildID string) *source {
	names := append(o.from.in.idNames(buildID), path.Join(path.Dir(o.from.at), name), relative(name))
	for _, name := range names {
		if f := o.from.in.withID(name, buildID); f != nil {
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
	all []string
}

func (w *warner) warn(format string, args ...any) {
	if msg := fmt.Sprintf(format, args...); !slices.Contains(w.all, msg) {
		w.all = append(w.all, msg)
	}
}
