package objects

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"profdiff/internal/debuginfod"
	"profdiff/internal/objfile"
)

// SearchPath is a directory with object files: a copy of a device's file system,
// a binary_cache of simpleperf, a build's symbols, perf's ~/.debug, or any folder.
type SearchPath struct {
	Name string // for messages
	FS   fs.FS
}

// maxIndexed bounds how many entries of a directory are looked at for build IDs.
const maxIndexed = 100_000

// A kind says how a directory is searched, in the order in which they are.
type kind uint8

const (
	given  kind = iota // by --symfs
	beside             // the recording
	local              // the files of this machine
	cached             // by build ID, by perf or by debuginfod
)

// A directory is a search path with what is known of it.
type directory struct {
	SearchPath
	warner
	kind kind
	// own is set if it is the root of a machine: what is at the recorded path may be the
	// recorded file, not a copy.
	own bool
	// byID holds the files by build ID, list those of build_id_list, each made when it is
	// first asked for.
	byID    map[string][]string
	list    map[string]string
	sources map[string]*source // that are open, by name
}

func newDirectory(p SearchPath, kind kind) *directory {
	d := &directory{SearchPath: p, kind: kind, own: kind == local, sources: make(map[string]*source)}
	if kind == given {
		_, err := fs.Stat(p.FS, "proc/self")
		d.own = err == nil
	}
	return d
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
	// What is no regular file may hang or act if it is opened.
	if !fs.ValidPath(name) || !regular(d.FS, name) {
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
	return &File{File: f, ReaderAt: at, Size: info.Size(), Name: strings.TrimSuffix(d.Name, "/") + "/" + name, in: d, at: name}, nil
}

// relative is a path of the recorded machine below a search path.
func relative(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// A search looks for the file of a DSO.
type search struct {
	*Recorded
	store *Store
	want  func(*objfile.File) bool
	*found
}

// search opens the object file for a file of the recorded machine: one that has the
// build ID, or, if the recording has none, one at the same path or of the same
// name. Files that are not wanted are passed over. It returns nil if there is none.
func (s *Store) search(file *Recorded, want func(*objfile.File) bool, result *found) *source {
	q := &search{file, s, want, result}
	for _, d := range s.dirs {
		var o *source
		switch d.kind {
		case given, beside:
			o = q.below(d)
		case local:
			o = q.local(d)
		case cached:
			o = q.byID(d)
		}
		if o != nil {
			return o
		}
	}
	return q.fetched(debuginfod.Executable, debuginfod.Debuginfo)
}

// byID looks where files with the build ID are by convention.
func (q *search) byID(d *directory) *source {
	if q.BuildID == "" {
		return nil
	}
	for _, name := range d.idNames(q.BuildID) {
		if o := q.object(d, name, false); o != nil {
			return o
		}
	}
	return nil
}

// below looks at a copy of the recorded machine's files, or at any folder.
func (q *search) below(d *directory) *source {
	if o := q.byID(d); o != nil {
		return o
	}
	file := strings.TrimSuffix(q.Path, deleted)
	at := relative(file)
	if apk, entry, ok := strings.Cut(file, "!/"); ok {
		if o := q.zipped(d, relative(apk), entry, path.Base(apk)); o != nil {
			return o
		}
		at = path.Base(entry)
	}
	for _, name := range []string{at, path.Base(at)} {
		if o := q.object(d, name, name == at); o != nil {
			return o
		}
	}
	for _, name := range q.Others {
		if o := q.object(d, relative(name), false); o != nil {
			return o
		}
	}
	if q.BuildID == "" {
		q.try(d.Name, "")
		return nil
	}
	names := d.index()[TrimBuildID(q.BuildID)]
	q.store.note(&d.warner)
	for _, name := range names {
		if o := q.object(d, name, false); o != nil {
			return o
		}
	}
	q.try(d.Name, "")
	return nil
}

// local looks at the recorded path on this machine, and at the debug files of its packages.
func (q *search) local(d *directory) *source {
	if q.Path == vdsoPath {
		if o := q.store.machine.vdso(); o != nil && q.BuildID != "" && q.matches(o, "", false) {
			return o
		}
	}
	file := strings.TrimSuffix(q.Path, deleted)
	if strings.HasPrefix(file, "/") && !strings.HasPrefix(file, "//") {
		apk, entry, ok := strings.Cut(file, "!/")
		var o *source
		if ok {
			o = q.zipped(d, relative(apk), entry)
		} else {
			o = q.object(d, relative(file), false)
		}
		if o != nil {
			return o
		}
		q.try(d.Name+file, "")
	}
	for _, name := range q.Others {
		if o := q.object(d, relative(name), false); o != nil {
			return o
		}
	}
	if o := q.byID(d); o != nil {
		return o
	}
	q.try(d.Name+"/usr/lib/debug", "")
	return nil
}

// fetched asks debuginfod for a file of these kinds.
func (q *search) fetched(kinds ...debuginfod.Kind) *source {
	s := q.store
	if s.fetcher == nil || q.BuildID == "" || q.Here {
		return nil
	}
	for _, kind := range kinds {
		name, err := s.fetcher.Find(kind, TrimBuildID(q.BuildID), q.Path)
		if err != nil {
			q.try("debuginfod", err.Error())
			continue
		}
		dir, base := filepath.Split(name)
		if o := q.object(s.directory(SearchPath{Name: filepath.Clean(dir), FS: os.DirFS(dir)}, cached), base, false); o != nil {
			return o
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
		switch d.kind {
		case local:
			return append(names, "usr/lib/debug/"+at+".debug", "usr/lib/debug/"+at, "usr/lib/"+at)
		case cached:
			return append(names, at+"/elf", at+"/debug", at+"/vdso", at)
		}
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
	if d.own {
		return d.byID
	}
	n, limit := 0, maxIndexed
	if d.kind == beside {
		limit = maxBeside
	}
	err := fs.WalkDir(d.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if n++; n > limit {
			return errTooMany
		}
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if id := d.buildID(name); id != "" {
			d.byID[TrimBuildID(id)] = append(d.byID[TrimBuildID(id)], name)
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		d.warn("%s has more than %d files: build IDs of the rest were not looked at", d.Name, limit)
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

// object opens an ELF file if it is the right one. One at the recorded path that is not is
// worth a warning.
func (q *search) object(d *directory, name string, warn bool) *source {
	o := d.source(name)
	if o == nil || !q.matches(o, name, warn) {
		return nil
	}
	return o
}

// matches reports whether o is the recorded file and is wanted.
func (q *search) matches(o *source, name string, warn bool) bool {
	own := o.from.in.own && name == relative(strings.TrimSuffix(q.Path, deleted))
	why := q.store.refusal(q.Recorded, o, own)
	if why == "" {
		return q.want(o.File)
	}
	q.codeErr = ErrOtherBuild
	q.try(o.title(), why)
	if warn {
		q.warn("%s is not used: %s", o.title(), why)
	}
	return false
}

// title is what messages call a file.
func (o *source) title() string {
	if o.zipped != "" && o.zipped != vdsoPath {
		return o.from.Name + "!/" + o.zipped
	}
	return o.from.Name
}

// zipped opens a library stored in an APK, which has one of these names. Where the first is
// not the right one, that is worth a warning.
func (q *search) zipped(d *directory, apk, entry string, others ...string) *source {
	for _, name := range append([]string{apk}, others...) {
		f, err := d.open(name)
		if err != nil {
			continue
		}
		section, err := objfile.OpenZipEntry(f, f.Size, entry)
		if err == nil {
			if file, err := objfile.New(section, section.Size()); err == nil {
				o := &source{File: file, from: f, size: section.Size(), zipped: entry}
				if q.matches(o, name, name == apk && d.kind < local) {
					return o
				}
			}
		}
		f.Close()
	}
	return nil
}

// lastWrites is for how long after the last sample a process may go on writing the files that
// tell of its code: it does so until it ends.
const lastWrites = 10 * time.Second

// File opens any file of the recorded machine by its path or its name, nil if there is none. A
// file of this machine is taken if it was not changed since it recorded. The caller closes it. It does not depend on what
// was asked for before, and waits for no turn: recordings with compiled code ask while they are replayed.
func (s *Store) File(name string) *File {
	if s.Empty() {
		return nil
	}
	at := relative(name)
	for _, d := range s.dirs {
		names := []string{at, path.Base(at)}
		switch {
		case d.kind == cached, d.kind == local && !s.recording.isHere(s.machine):
			continue
		case d.kind == local:
			names = names[:1]
		}
		for _, name := range names {
			f, err := d.open(name)
			if err != nil {
				continue
			}
			if info, err := f.Stat(); d.kind == local && (err != nil || info.ModTime().After(s.recording.Ended.Add(lastWrites))) {
				f.Close()
				continue
			}
			return f
		}
	}
	return nil
}

// Written is when a file of this machine was last written, zero for a copy that was put where
// files of the recorded machine are looked for: that has the time at which it was made.
func (f *File) Written() time.Time {
	if f.in.kind != local {
		return time.Time{}
	}
	info, err := f.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// debugFile opens the separate debug file of an object: beside it, where the directories that
// are searched have it by convention, or from debuginfod.
func (s *Store) debugFile(o *source) *source {
	id := o.BuildID()
	q := &search{&Recorded{Path: o.from.Name, BuildID: id}, s, func(f *objfile.File) bool { return f != o.File }, new(found)}
	if len(id) > 2 {
		at := ".build-id/" + id[:2] + "/" + id[2:]
		for _, d := range s.around(o) {
			for _, name := range []string{at + ".debug", "usr/lib/debug/" + at + ".debug", at + "/debug"} {
				if f := q.object(d, name, false); f != nil {
					return f
				}
			}
		}
	}
	if link, crc, ok := o.DebugLink(); ok && path.Base(link) == link {
		dir := path.Dir(o.from.at)
		for _, name := range []string{path.Join(dir, link), path.Join(dir, ".debug", link), path.Join("usr/lib/debug", dir, link)} {
			f := o.from.in.source(name)
			switch {
			case f == nil || f.File == o.File:
			case id != "" && TrimBuildID(f.BuildID()) == TrimBuildID(id), id == "" && f.checksum() == crc:
				return f
			}
		}
	}
	if _, ok := o.Section(".debug_info"); ok {
		return nil
	}
	return q.fetched(debuginfod.Debuginfo)
}

// around are the directories that may have what belongs to an object: its own first.
func (s *Store) around(o *source) []*directory {
	list := []*directory{o.from.in}
	for _, d := range s.dirs {
		if d != o.from.in {
			list = append(list, d)
		}
	}
	return list
}

// checksum is that of .gnu_debuglink: CRC-32 with the polynomial of IEEE 802.3 (GDB's manual,
// Separate Debug Files).
func (o *source) checksum() uint32 {
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(o.from, 0, o.from.Size)); err != nil {
		return 0
	}
	return h.Sum32()
}

// supplementary opens the file that .gnu_debugaltlink of o names.
func (s *Store) supplementary(o *source, name, buildID string) *source {
	q := &search{&Recorded{Path: name, BuildID: buildID}, s, anyFile, new(found)}
	for _, at := range []string{path.Join(path.Dir(o.from.at), name), relative(name)} {
		if f := q.object(o.from.in, at, false); f != nil {
			return f
		}
	}
	for _, d := range s.around(o) {
		if f := q.byID(d); f != nil {
			return f
		}
	}
	return q.fetched(debuginfod.Debuginfo)
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
