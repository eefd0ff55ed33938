package perfsession

import (
	"iter"

	"profdiff/internal/limit"
)

// Spaces are the address spaces of processes, by their numbers, and of the kernel. A
// [Session] keeps the spaces of a perf.data file up to date; for recordings in other
// formats call Map and Fork. Make them with NewSpaces.
type Spaces struct {
	DSOs []*DSO
	// Mappings is their number so far; their IDs are below.
	Mappings int

	processes     map[int32]*Process
	last          *Process // that the latest Find asked for
	kernel, guest space
	dsos          map[dsoKey]*DSO
}

type dsoKey struct {
	path, buildID string
	kernel        bool
}

// NewSpaces returns address spaces with nothing in them.
func NewSpaces() Spaces {
	return Spaces{processes: make(map[int32]*Process), dsos: make(map[dsoKey]*DSO)}
}

// DSO returns the DSO with a path, of whatever spelling, and a build ID in lower-case
// hexadecimal, "" if unknown.
func (s *Spaces) DSO(path, buildID string, kernel bool) *DSO {
	path = canonicalPath(path, kernel)
	key := dsoKey{path, buildID, kernel}
	d, ok := s.dsos[key]
	if !ok {
		d = &DSO{ID: len(s.DSOs), Path: path, BuildID: buildID, Kernel: kernel}
		s.DSOs = append(s.DSOs, d)
		s.dsos[key] = d
	}
	return d
}

// Kernel returns the DSO of the kernel image, also if no mapping shows it.
func (s *Spaces) Kernel() *DSO {
	for _, d := range s.DSOs {
		if d.Kernel && d.Path == KernelPath {
			return d
		}
	}
	return s.DSO(KernelPath, "", true)
}

// Map adds a mapping to the process that it names, or to the kernel if that is what its
// DSO is. It covers what was there before. Its ID is given here. An End below Start is
// the end of memory.
func (s *Spaces) Map(m Mapping) {
	switch {
	case m.Start == m.End:
		return
	case m.End < m.Start:
		m.End = 1<<64 - 1
	}
	if m.DSO.Kernel {
		s.put(&s.kernel, m)
		return
	}
	s.put(&s.process(m.PID).space, m)
}

// put adds a mapping to an address space.
func (s *Spaces) put(to *space, m Mapping) {
	if d := m.DSO; d.Kernel && d.IsKernelImage() && d.Text == 0 {
		// perf before 4.x maps from 0 and gives the text's address as PgOff.
		d.Text = max(m.Start, m.PgOff)
		if d.Text == m.Start && d.Text != 0 {
			d.TextEnd = m.End
		}
	}
	to.insert(s.mapping(m), s.mapping)
}

// KernelModules yields the mappings of kernel modules as they are now.
func (s *Spaces) KernelModules() iter.Seq[*Mapping] {
	return func(yield func(*Mapping) bool) {
		for m := range s.kernel.root.all() {
			if !m.DSO.IsKernelImage() && m.DSO.Symbol == "" && !yield(m) {
				return
			}
		}
	}
}

// endOf is where a range of n bytes ends: at the end of memory if it would exceed it.
func endOf(start, n uint64) uint64 {
	if end := start + n; end >= start {
		return end
	}
	return 1<<64 - 1
}

// mapping gives m an ID.
func (s *Spaces) mapping(m Mapping) *Mapping {
	limit.Mappings.Add(1)
	m.ID = s.Mappings
	s.Mappings++
	return &m
}

// Fork starts process pid with the mappings of its parent. One with this number that is
// still known is forgotten.
func (s *Spaces) Fork(parent, pid int32) {
	if parent != pid {
		s.replace(&Process{PID: pid, space: s.process(parent).space.fork()})
	}
}

// Find returns the mapping of an address as process pid sees it now, nil if there is
// none. The upper half of the addresses is the kernel's. Guests are left out.
func (s *Spaces) Find(pid int32, addr uint64) *Mapping {
	if int64(addr) < 0 {
		return s.kernel.find(addr)
	}
	p := s.last
	if p == nil || p.PID != pid {
		if p = s.processes[pid]; p == nil {
			return nil
		}
		s.last = p
	}
	return p.space.find(addr)
}

// process returns process pid, making it up if nothing has told of it.
func (s *Spaces) process(pid int32) *Process {
	p, ok := s.processes[pid]
	if !ok {
		p = &Process{PID: pid}
		s.replace(p)
	}
	return p
}

// replace makes p the process of its number.
func (s *Spaces) replace(p *Process) {
	limit.Processes.Add(1)
	s.processes[p.PID] = p
	s.last = nil
}
