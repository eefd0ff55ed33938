package perfsession

import "strings"

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

// A space is the address space of a process. Spaces of forked processes share their mappings,
// also after one of them has changed some of its own.
type space struct {
	root *node
	last *Mapping // that the latest find found
	// flat has all mappings of root, nil if it was not asked often enough since root
	// changed: asked counts.
	flat  *flat
	asked uint32
	// version counts the changes.
	version uint32
}

// A flat is a sorted table of mappings, which is searched faster than a tree.
type flat struct {
	starts []uint64
	maps   []*Mapping
}

// minAsked is how often a space is asked before a table is worth while.
const minAsked = 64

func (s *space) find(addr uint64) *Mapping {
	if m := s.last; m != nil && addr-m.Start < m.End-m.Start {
		return m
	}
	if s.flat == nil {
		return s.ask(addr)
	}
	lo, hi := 0, len(s.flat.starts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.flat.starts[mid] <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if m := s.flat.maps[lo-1]; addr < m.End {
		s.last = m
		return m
	}
	return nil
}

// ask is find without a table. When it was called as often as there are mappings, the table is made:
// it costs no more than the calls did.
func (s *space) ask(addr uint64) *Mapping {
	if s.asked++; s.asked >= minAsked && s.asked&(s.asked-1) == 0 {
		s.flat = s.root.flatten(int(s.asked))
	}
	var below *node // the last one that starts at or before addr
	for n := s.root; n != nil; {
		if n.start <= addr {
			below, n = n, n.right
		} else {
			n = n.left
		}
	}
	if below == nil || addr >= below.m.End {
		return nil
	}
	s.last = below.m
	return s.last
}

// fork returns a copy of s.
func (s *space) fork() space { return space{root: s.root, flat: s.flat} }

// clear removes all mappings.
func (s *space) clear() { *s = space{version: s.version + 1} }

// insert adds m and cuts away what it covers of earlier mappings. piece makes the
// mappings for what remains of them.
func (s *space) insert(m *Mapping, piece func(Mapping) *Mapping) {
	top := &node{start: m.Start, m: m}
	if m.covers(s.root) {
		s.set(cover(s.root, top, piece))
	} else {
		s.set(put(s.root, top))
	}
}

// cover adds all mappings of a tree like insert.
func (s *space) cover(top *node, piece func(Mapping) *Mapping) { s.set(cover(s.root, top, piece)) }

func (s *space) set(root *node) { *s = space{root: root, version: s.version + 1} }

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
