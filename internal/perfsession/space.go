package perfsession

import (
	"slices"
	"strings"
)

// A DSO is a file that is mapped as code: a program, a library, the kernel, a
// module, or something that only looks like a file, such as [vdso].
type DSO struct {
	// ID numbers the DSOs of a session from 0.
	ID int
	// Path on the machine of the recording. Kernels of all spellings are
	// [kernel.kallsyms], anonymous memory is //anon.
	Path    string
	BuildID string // lower-case hexadecimal, "" if unknown
	Kernel  bool   // kernel, module or BPF program
	// Text is where the code of the kernel image starts in memory, and TextEnd where
	// the recording has it end; 0 if the recording does not say, and for all others.
	Text, TextEnd uint64
	// Reference is the symbol at Text, mostly _text. "" if the recording does not say.
	Reference string
	// Symbol is the name of all of it, for code that the kernel announced with
	// a KSYMBOL record. "" for all others.
	Symbol string
	Identity
}

// Names of DSOs that are not files.
const (
	KernelPath      = "[kernel.kallsyms]"
	guestKernelPath = "[guest.kernel.kallsyms]"
	AnonPath        = "//anon"
)

// IsKernelImage reports whether the DSO is the kernel itself, not a module.
func (d *DSO) IsKernelImage() bool { return d.Path == KernelPath || d.Path == guestKernelPath }

// IsFile reports whether the addresses of a DSO, by its path, mean the same in all processes.
func IsFile(path string) bool {
	if path == AnonPath {
		return false
	}
	return !strings.HasPrefix(path, "[") || path == "[vdso]" || path == "[vsyscall]" || path == "[vectors]"
}

// A Mapping is a range of addresses of a process, or of the kernel, that shows a
// part of a DSO.
type Mapping struct {
	// ID numbers the mappings of a session from 0. Pieces that remain when a
	// later mapping covers part of this one are mappings of their own.
	ID         int
	DSO        *DSO
	Start, End uint64 // addresses from Start up to, not including, End
	PgOff      uint64 // offset in the file of Start
	Prot       uint32 // PROT_*, 0 if the recording does not say
	PID        int32  // process that mapped it first, -1 for the kernel
}

// ProtJITSymFile marks mappings that simpleperf made up for compiled Java methods:
// their symbol file has addresses as they are in memory. Must match
// PROT_JIT_SYMFILE_MAP in simpleperf/thread_tree.h.
const ProtJITSymFile = 0x4000

// MayExecute reports whether there is code, as far as the recording says.
func (m *Mapping) MayExecute() bool {
	const exec = 4 // PROT_EXEC
	return m.Prot == 0 || m.Prot&(exec|ProtJITSymFile) != 0
}

// A space is the address space of a process. Spaces of forked processes share
// their table until one of them changes it.
type space struct {
	maps   []*Mapping // by Start, without overlap
	starts []uint64   // of maps: searching them needs less memory
	shared bool       // maps and starts are also another space's
	last   *Mapping   // that the latest find found
	// version counts the changes.
	version uint
}

func (s *space) find(addr uint64) *Mapping {
	if m := s.last; m != nil && addr-m.Start < m.End-m.Start {
		return m
	}
	lo, hi := 0, len(s.starts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.starts[mid] <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if m := s.maps[lo-1]; addr < m.End {
		s.last = m
		return m
	}
	return nil
}

// fork returns a copy of s.
func (s *space) fork() space {
	s.shared = true
	return space{maps: s.maps, starts: s.starts, shared: true}
}

// clear removes all mappings.
func (s *space) clear() { *s = space{version: s.version + 1} }

// insert adds m and cuts away what it covers of earlier mappings. piece makes the
// mappings for what remains of them.
func (s *space) insert(m *Mapping, piece func(Mapping) *Mapping) {
	s.last = nil
	s.version++
	// from is the first mapping that ends behind m.Start, to the first that
	// starts at or behind m.End.
	from, _ := slices.BinarySearchFunc(s.maps, m.Start, func(o *Mapping, addr uint64) int {
		if o.End <= addr {
			return -1
		}
		return 1
	})
	to := from
	for to < len(s.maps) && s.maps[to].Start < m.End {
		to++
	}
	var parts [3]*Mapping
	n := 0
	if from < to {
		if first := s.maps[from]; first.Start < m.Start {
			p := *first
			p.End = m.Start
			parts[n] = piece(p)
			n++
		}
	}
	parts[n] = m
	n++
	if from < to {
		if last := s.maps[to-1]; last.End > m.End {
			p := *last
			p.PgOff += m.End - p.Start
			p.Start = m.End
			parts[n] = piece(p)
			n++
		}
	}
	if s.shared {
		s.maps, s.starts = slices.Clone(s.maps), slices.Clone(s.starts)
		s.shared = false
	}
	var starts [3]uint64
	for i, p := range parts[:n] {
		starts[i] = p.Start
	}
	s.maps = slices.Replace(s.maps, from, to, parts[:n]...)
	s.starts = slices.Replace(s.starts, from, to, starts[:n]...)
}

// canonicalPath gives one name to what recorders spell in several ways.
func canonicalPath(path string, kernel bool) string {
	switch {
	case kernel && strings.HasPrefix(path, "[guest.kernel.kallsyms"):
		return guestKernelPath
	case kernel && strings.HasPrefix(path, KernelPath[:len(KernelPath)-1]):
		return KernelPath
	case !kernel && path == "":
		return AnonPath
	}
	return path
}

// referenceSymbol is the symbol that a mapping of the kernel image names behind its path,
// as [kernel.kallsyms]_text does.
func referenceSymbol(path string) string { return path[strings.LastIndexByte(path, ']')+1:] }
