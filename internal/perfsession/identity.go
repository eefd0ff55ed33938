package perfsession

import (
	"slices"

	"profdiff/internal/perffile"
)

// An Identity is what the mappings of a file tell of it apart from its name and build ID. It
// grows while a recording is replayed.
type Identity struct {
	Device Device
	Inode  uint64 // 0 if it is not known
	// Generation tells apart files that had the inode one after the other.
	Generation uint64
	// Several is set if files with other inodes were under the path, too.
	Several bool
	// Mapped are parts of the file that were mapped as code, each once, not all if they are
	// many.
	Mapped []Part
}

// A Device is what a file system is on, by the numbers that MMAP2 records have.
type Device struct{ Major, Minor uint32 }

// A Part of a file is from Off to End, in bytes.
type Part struct{ Off, End uint64 }

// maxParts bounds the parts that are kept of a file.
const maxParts = 8

// identify adds what a mapping tells. prot is 0 if it is not known.
func (i *Identity) identify(m *perffile.Mmap, prot uint32) {
	device := Device{m.Major, m.Minor}
	switch {
	case m.Inode == 0:
	case i.Inode == 0:
		i.Device, i.Inode, i.Generation = device, m.Inode, m.InodeGen
	case i.Device != device || i.Inode != m.Inode || i.Generation != m.InodeGen:
		i.Several = true
	}
	const executable = 4 // PROT_EXEC
	part := Part{m.PgOff, m.PgOff + m.Len}
	if prot != 0 && prot&executable == 0 || part.End < part.Off || len(i.Mapped) == maxParts {
		return
	}
	if slices.Contains(i.Mapped, part) {
		return
	}
	i.Mapped = append(i.Mapped, part)
}
