package branch

import (
	"slices"
	"strings"

	"profdiff/internal/perfsession"
)

// spaces are the address spaces of a recording. Replaying a recording finds the
// mappings of call chains; the addresses of branches are looked up here.
type spaces struct {
	dsos   []*perfsession.DSO
	byKey  map[dsoKey]*perfsession.DSO
	kernel *space
	user   map[int32]*space // by process
	ids    int
}

// A space is an address space. Those of forked processes share their mappings until
// one of them changes them.
type space struct {
	maps   []*perfsession.Mapping // by Start, without overlap
	shared bool
}

type dsoKey struct {
	path, buildID string
	kernel        bool
}

func newSpaces() *spaces {
	return &spaces{byKey: make(map[dsoKey]*perfsession.DSO), kernel: new(space), user: make(map[int32]*space)}
}

// mapped is a mapping that appeared in a process, or in the kernel.
type mapped struct {
	pid               int32
	kernel            bool
	start, len, pgoff uint64
	path, buildID     string
}

func (s *spaces) add(m *mapped) {
	if m.len == 0 {
		return
	}
	end := m.start + m.len
	if end < m.start {
		end = 1<<64 - 1
	}
	n := perfsession.Mapping{Start: m.start, End: end, PgOff: m.pgoff, PID: m.pid, DSO: s.dso(m.path, m.buildID, m.kernel)}
	if d := n.DSO; m.kernel && d.IsKernelImage() && d.Text == 0 {
		d.Text = max(m.start, m.pgoff)
	}
	to := s.kernel
	if !m.kernel {
		if to = s.user[m.pid]; to == nil {
			to = new(space)
			s.user[m.pid] = to
		}
	}
	s.insert(to, &n)
}

// insert adds m, which covers what was in its place.
func (s *spaces) insert(in *space, m *perfsession.Mapping) {
	if in.shared {
		in.maps, in.shared = slices.Clone(in.maps), false
	}
	maps := in.maps
	from, _ := slices.BinarySearchFunc(maps, m.Start, func(o *perfsession.Mapping, addr uint64) int {
		if o.End <= addr {
			return -1
		}
		return 1
	})
	to := from
	for to < len(maps) && maps[to].Start < m.End {
		to++
	}
	var parts []*perfsession.Mapping
	if from < to && maps[from].Start < m.Start {
		p := *maps[from]
		p.End = m.Start
		parts = append(parts, s.number(&p))
	}
	parts = append(parts, s.number(m))
	if from < to && maps[to-1].End > m.End {
		p := *maps[to-1]
		p.PgOff += m.End - p.Start
		p.Start = m.End
		parts = append(parts, s.number(&p))
	}
	in.maps = slices.Replace(maps, from, to, parts...)
}

func (s *spaces) number(m *perfsession.Mapping) *perfsession.Mapping {
	m.ID = s.ids
	s.ids++
	return m
}

func (s *spaces) dso(path, buildID string, kernel bool) *perfsession.DSO {
	switch {
	case kernel && strings.HasPrefix(path, "[guest.kernel.kallsyms"):
		path = perfsession.GuestKernelPath
	case kernel && strings.HasPrefix(path, "[kernel.kallsyms"):
		path = perfsession.KernelPath
	case !kernel && path == "":
		path = perfsession.AnonPath
	}
	key := dsoKey{path, buildID, kernel}
	d, ok := s.byKey[key]
	if !ok {
		d = &perfsession.DSO{ID: len(s.dsos), Path: path, BuildID: buildID, Kernel: kernel}
		s.dsos = append(s.dsos, d)
		s.byKey[key] = d
	}
	return d
}

// kernelDSO is the kernel image, also if no mapping shows it.
func (s *spaces) kernelDSO() *perfsession.DSO { return s.dso(perfsession.KernelPath, "", true) }

// fork gives process pid the mappings of its parent.
func (s *spaces) fork(parent, pid int32) {
	if from := s.user[parent]; from != nil && parent != pid {
		from.shared = true
		s.user[pid] = &space{maps: from.maps, shared: true}
	} else if parent != pid {
		delete(s.user, pid)
	}
}

// find returns the mapping of an address, nil if there is none. Kernels are in the
// upper half of the address space.
func (s *spaces) find(pid int32, addr uint64) *perfsession.Mapping {
	in := s.user[pid]
	if int64(addr) < 0 {
		in = s.kernel
	}
	if in == nil {
		return nil
	}
	maps := in.maps
	i, _ := slices.BinarySearchFunc(maps, addr, func(m *perfsession.Mapping, addr uint64) int {
		if m.Start <= addr {
			return -1
		}
		return 1
	})
	if i == 0 || addr >= maps[i-1].End {
		return nil
	}
	return maps[i-1]
}
