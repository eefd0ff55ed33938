package branch

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"profdiff/internal/objfile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// code reads instructions of one file.
type code interface {
	// decode decodes the instruction at an address of the file. ok is false if there
	// is none.
	decode(vaddr uint64) (i instruction, ok bool)
}

// An instruction is what matters here of one.
type instruction struct {
	len    int
	kind   Kind // UnknownKind if it is no branch
	target uint64
	direct bool // target is known
	ends   bool // the next instruction does not follow
}

// A binary is the file of a DSO.
type binary struct {
	code
	// vaddr is the address of an offset in the file.
	vaddr func(off uint64) (uint64, bool)
}

// binaries finds the files of DSOs under search paths, each once. Code is taken from
// files with the recorded build ID, or of the recorded name if there is none. Kernel
// code is not read: it changes while it runs.
type binaries struct {
	paths []symbolizer.SearchPath
	byDSO map[int]*binary
	open  func(*objfile.File) (code, error)
	files []io.Closer
	// why says for DSOs whose file was found but has no code that can be read, why.
	why map[int]string
}

func (b *binaries) find(d *perfsession.DSO) *binary {
	if found, ok := b.byDSO[d.ID]; ok {
		return found
	}
	var found *binary
	if !d.Kernel && strings.HasPrefix(d.Path, "/") && !strings.HasPrefix(d.Path, "//") {
		found = b.search(d)
	}
	if b.byDSO == nil {
		b.byDSO = make(map[int]*binary)
	}
	b.byDSO[d.ID] = found
	return found
}

func (b *binaries) search(d *perfsession.DSO) *binary {
	relative := strings.TrimPrefix(path.Clean(strings.TrimSuffix(d.Path, " (deleted)")), "/")
	names := []string{relative, path.Base(relative)}
	if id := d.BuildID; len(id) > 2 {
		at := ".build-id/" + id[:2] + "/" + id[2:]
		names = append([]string{at + "/elf", at}, names...)
	}
	for _, p := range b.paths {
		for _, name := range names {
			if found := b.read(p, name, d); found != nil {
				return found
			}
		}
	}
	return nil
}

// read opens a file that has the build ID and code that can be decoded.
func (b *binaries) read(p symbolizer.SearchPath, name string, d *perfsession.DSO) *binary {
	if !fs.ValidPath(name) {
		return nil
	}
	f, err := p.FS.Open(name)
	if err != nil {
		return nil
	}
	found := func() *binary {
		at, ok := f.(io.ReaderAt)
		info, err := f.Stat()
		if err != nil || !ok || !info.Mode().IsRegular() {
			return nil
		}
		o, err := objfile.New(at, info.Size())
		if err != nil {
			return nil
		}
		if d.BuildID != "" && trimID(o.BuildID()) != trimID(d.BuildID) {
			b.because(d, "the binary is of another build")
			return nil
		}
		c, err := b.open(o)
		if err != nil {
			b.because(d, fmt.Sprintf("the binary has no code that can be read (%v)", err))
			return nil
		}
		return &binary{c, o.VaddrOfOffset}
	}()
	if found == nil {
		f.Close()
		return nil
	}
	b.files = append(b.files, f)
	return found
}

// because notes why the file of a DSO is of no use.
func (b *binaries) because(d *perfsession.DSO, reason string) {
	if b.why == nil {
		b.why = make(map[int]string)
	}
	b.why[d.ID] = reason
}

// trimID removes the zeros with which recorders fill up build IDs of less than 20
// bytes.
func trimID(id string) string {
	for strings.HasSuffix(id, "00000000") {
		id = id[:len(id)-8]
	}
	return id
}

func (b *binaries) close() {
	for _, f := range b.files {
		f.Close()
	}
}
