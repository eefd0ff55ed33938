package objects

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"profdiff/internal/perfsession"
)

// A Recorded is what a recording says of a file.
type Recorded struct {
	Path    string // base.apk!/lib/arm64-v8a/libx.so is a library in an archive
	BuildID string // lower-case hexadecimal, "" if it is not known
	// Others are further paths where it may be, for what has no path of its own.
	Others []string
	// Here is set if it is not worth asking a server for.
	Here bool
	perfsession.Identity
}

// FileOf is what a recording says of a DSO.
func FileOf(d *perfsession.DSO) Recorded {
	return Recorded{Path: d.Path, BuildID: d.BuildID, Identity: d.Identity}
}

// A Recording is what is known of the recording that names files.
type Recording struct {
	// Dir is where it is, whose symbols and binary_cache are looked at; "" if it is in no
	// directory.
	Dir string
	// Host is the name of the machine that recorded, "" if it is not known. LateHost, if it is
	// set, says it instead: a stream tells it while it is read.
	Host     string
	LateHost func() string
	// Ended is a time before which it ended, zero if it is not known.
	Ended time.Time
}

// host is the name of the machine that recorded, as far as it is known by now.
func (r *Recording) host() string {
	if r.LateHost != nil {
		return r.LateHost()
	}
	return r.Host
}

// isHere reports whether a machine is that of the recording.
func (r *Recording) isHere(m *Machine) bool { return r.host() != "" && r.host() == m.host }

// pageSizes are those with which kernels map files, in bytes.
var pageSizes = []uint64{4 << 10, 16 << 10, 64 << 10}

// fits reports whether what the recording says was mapped as code are segments of the file.
func (r *Recorded) fits(file *source) bool {
	segments := file.Segments()
	for _, part := range r.Mapped {
		ok := false
		for _, s := range segments {
			if !s.Executable || s.FileSize == 0 {
				continue
			}
			for _, page := range pageSizes {
				start, end := s.Offset&^(page-1), s.Offset+s.FileSize
				// What starts where the segment does has all of it. A piece of a mapping that was
				// split is in it, up to the end of a page.
				ok = ok || part.Off == start && part.End >= end || part.Off > s.Offset && part.End <= (end+page-1)&^(page-1)
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// refusal says why a file is not the recorded one, "" if nothing contradicts. own is set if
// it was found at the recorded path of the recorded machine: a copy has another inode, and
// the time at which it was made.
func (s *Store) refusal(r *Recorded, file *source, own bool) string {
	id := file.BuildID()
	switch {
	case r.BuildID != "" && TrimBuildID(id) == TrimBuildID(r.BuildID):
		return ""
	case r.BuildID != "" && id == "":
		return "its build ID is absent, that of the recording " + r.BuildID
	case r.BuildID != "":
		return fmt.Sprintf("its build ID is %s, that of the recording %s", id, r.BuildID)
	case file.zipped != "":
		return ""
	case !r.fits(file):
		return "its code is not where the recording has it"
	}
	info, err := file.from.Stat()
	if err != nil {
		return err.Error()
	}
	// Who names the root of a machine says that it is the recorded one, as long as nothing
	// contradicts: formats such as callgrind.out have no host and no time.
	told := file.from.in.kind == given
	device, inode := inodeOf(info)
	same := r.Inode != 0 && inode == r.Inode && device == r.Device
	switch {
	case !own && !same:
		return ""
	case r.Several:
		return "it was replaced while it was recorded"
	case strings.HasSuffix(r.Path, deleted):
		return "it was replaced while it ran"
	case r.Inode != 0 && device == r.Device && inode != r.Inode:
		return "it was replaced after it was recorded"
	case !same && !s.recording.isHere(s.machine) && !(told && s.recording.host() == ""):
		return "without a build ID, a file of this machine is not known to be that of the machine of the recording"
	case s.recording.Ended.IsZero() && !told:
		return "without a build ID, and when it was recorded, it is not known to be the recorded file"
	case !s.recording.Ended.IsZero() && info.ModTime().After(s.recording.Ended):
		return "it was changed after it was recorded, at " + info.ModTime().UTC().Format(time.DateTime) + " UTC"
	}
	return ""
}

// deleted is what the kernel appends to the path of a file that is no more.
const deleted = " (deleted)"

// regular reports whether name is a regular file: what is not, such as a FIFO, may not even
// be opened.
func regular(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}
