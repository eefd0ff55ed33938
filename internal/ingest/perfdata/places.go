package perfdata

import (
	"math/bits"

	"profdiff/internal/perfsession"
)

// A segment is a part of a DSO as pprof identifies it: by file, offset and size,
// wherever it is mapped. Memory that is no file is a segment at each place.
type segment struct {
	first perfsession.Mapping // the first mapping that shows it
	count int64               // samples whose leaf is in it
}

type segmentKey struct {
	dso          int
	pgOff, size  uint64
	start        uint64 // 0 for files
	pid          int32  // 0 for files
	kernel       bool
	jitSymbolMap bool
}

// A place is what an address is relative to its segment.
type place struct {
	rel uint64
	// segment is an index in segments, shifted by placeFlagBits; 0 is not mapped.
	// The low bits are flags.
	segment uint32
	jit     uint32 // function compiled there at the time, see Symbolizer.JITFunction
}

const (
	inKernel = 1 << iota
	inGuest
	adjusted // of a return address, if it shows in names
	cutOff   // no address: callers that the recording lacks

	placeFlagBits = 4
)

func (pl place) seg() uint32          { return pl.segment >> placeFlagBits }
func (pl place) has(flag uint32) bool { return pl.segment&flag != 0 }

// place says what the address of a frame is relative to.
func (p *reader) place(pid int32, f *perfsession.Frame) place {
	if f.CutOff {
		return place{segment: cutOff}
	}
	pl := place{rel: f.Addr}
	switch m := f.Map; {
	case m != nil:
		if m.ID >= len(p.segmentOf) {
			p.segmentOf = append(p.segmentOf, make([]uint32, max(1024, m.ID+1-len(p.segmentOf)))...)
		}
		seg := p.segmentOf[m.ID]
		if seg == 0 {
			seg = p.segment(m) + 1
			p.segmentOf[m.ID] = seg
		}
		pl.segment = (seg - 1) << placeFlagBits
		pl.rel = f.Addr - m.Start
	case !f.Kernel && !f.Guest && p.z.JITNamed(pid, f.Addr):
		pl.segment = p.unmapped(pid) << placeFlagBits
	default:
		if f.Kernel {
			pl.segment = inKernel
		}
		if f.Guest {
			pl.segment |= inGuest
		}
		if !p.opt.UnknownOffset && (!f.Kernel || int64(f.Addr) >= 0) {
			pl.rel = 0 // no address there will ever have a name
		}
	}
	if f.Adjusted && p.opt.UnknownOffset {
		pl.segment |= adjusted
	}
	return pl
}

// A placed is an address of a mapping with its location.
type placed struct {
	addr     uint64
	mapping  uint32 // ID
	location uint32
}

// recentPlaces has addresses that were placed lately, each where its hash says. It is so small that
// the processor finds it in its second cache, while the table of all places is far too large for that.
type recentPlaces [1 << 14]placed

func (r *recentPlaces) of(f *perfsession.Frame) *placed {
	return &r[(f.Addr^uint64(f.Map.ID)<<40)*0x9e3779b97f4a7c15>>(64-14)]
}

// is reports whether it is the address of a frame, as the mapping of which it is now. No address is 0.
func (r *placed) is(f *perfsession.Frame) bool {
	return r.addr == f.Addr && r.mapping == uint32(f.Map.ID) && r.addr != 0
}

// An unplaced is a frame whose location, the index of its place, is not known yet.
type unplaced struct {
	place place
	hash  uint64
	at    int // in the locations of the batch
	slot  uint32
	seen  *placed // where it is kept as now, or nil
	now   placed
}

// segment returns the segment of a mapping.
func (p *reader) segment(m *perfsession.Mapping) uint32 {
	key := segmentKey{dso: m.DSO.ID, pgOff: m.PgOff, size: m.End - m.Start, kernel: m.DSO.Kernel}
	key.jitSymbolMap = m.Prot&perfsession.ProtJITSymFile != 0
	if m.DSO.Kernel || key.jitSymbolMap || !perfsession.IsFile(m.DSO.Path) {
		key.start, key.pid = m.Start, m.PID
	}
	i, ok := p.segmentIDs[key]
	if !ok {
		i = uint32(len(p.segments))
		p.segments = append(p.segments, segment{first: *m})
		p.segmentIDs[key] = i
	}
	return i
}

// unmapped returns the segment of all memory of a process that no record shows as mapped.
func (p *reader) unmapped(pid int32) uint32 {
	key := segmentKey{dso: p.memory.ID, pid: pid}
	i, ok := p.segmentIDs[key]
	if !ok {
		i = uint32(len(p.segments))
		p.segments = append(p.segments, segment{first: perfsession.Mapping{DSO: p.memory, End: 1<<64 - 1, PID: pid}})
		p.segmentIDs[key] = i
	}
	return i
}

// placeTable interns places: open addressing with linear probing, for the same
// reason as the tables of package run.
type placeTable struct {
	slots []uint32 // index in places + 1, 0 is free
}

func (pl place) hash() uint64 {
	h := pl.rel*0x9e3779b97f4a7c15 + uint64(pl.segment)*0xc2b2ae3d27d4eb4f + uint64(pl.jit)
	return bits.RotateLeft64(h, 29) ^ h>>31
}

// slot returns the first slot for a hash: the index of a place + 1, or 0.
func (t *placeTable) slot(hash uint64) uint32 {
	if len(t.slots) == 0 {
		return 0
	}
	return t.slots[hash&uint64(len(t.slots)-1)]
}

func (t *placeTable) intern(places *[]place, pl place, hash uint64) (index uint32) {
	if len(t.slots) == 0 {
		t.slots = make([]uint32, 1<<12)
	}
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i] != 0 {
		if n := t.slots[i] - 1; (*places)[n] == pl {
			return n
		}
		i = (i + 1) & mask
	}
	*places = append(*places, pl)
	n := uint32(len(*places))
	t.slots[i] = n
	if int(n)*2 > len(t.slots) {
		t.grow(*places)
	}
	return n - 1
}

func (t *placeTable) grow(places []place) {
	slots := make([]uint32, 2*len(t.slots))
	mask := uint64(len(slots) - 1)
	for n := range places {
		i := places[n].hash() & mask
		for slots[i] != 0 {
			i = (i + 1) & mask
		}
		slots[i] = uint32(n + 1)
	}
	t.slots = slots
}
