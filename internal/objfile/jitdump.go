package objfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
)

// A JITDump is the record that a JIT compiler keeps of its code in
// jit-PID.dump (tools/perf/Documentation/jitdump-specification.txt, Linux v6.12).
// It is immutable and may be used concurrently.
type JITDump struct {
	Machine uint16 // e_machine of ELF
	PID     uint32
	// Start is when the file was made; like all times in nanoseconds of
	// CLOCK_MONOTONIC, or in ticks of the processor's time stamp counter if
	// ArchTime is set.
	Start    uint64
	ArchTime bool
	// Loads are the functions in the order of the file.
	Loads []JITLoad
	// Moves are the relocations of functions in the order of the file.
	Moves []JITMove
	// Truncated is set if the file ends with a part of a record or with zeros, as
	// when the process was killed. What precedes it is there.
	Truncated bool

	regions []jitRegion // by ascending lo, then time
	highest []uint64    // for each region the highest hi of it and those before
}

// A JITLoad is code that was compiled (JIT_CODE_LOAD).
type JITLoad struct {
	Time       uint64
	PID, TID   uint32
	Vma        uint64 // address of the code when it ran
	Addr       uint64 // address of the code when it was written, mostly the same
	Size       uint64 // bytes of code
	Index      uint64 // number of the function
	Name       string
	CodeOffset int64 // of the code in the file, Size bytes
}

// A JITMove is code that was moved (JIT_CODE_MOVE).
type JITMove struct {
	Time     uint64
	PID, TID uint32
	Vma      uint64
	OldAddr  uint64
	NewAddr  uint64
	Size     uint64 // bytes
	Index    uint64 // of the load record
}

// jitRegion is an address range [lo, hi) that has held a function since a time.
type jitRegion struct {
	lo, hi     uint64
	time, gone uint64 // gone is when the function was moved away
	load       int    // index in Loads
}

// Lookup returns the function that was at addr at a time, in the unit of Start: the
// one that was last loaded or moved there, unless it was moved away since.
func (d *JITDump) Lookup(time, addr uint64) (Symbol, bool) {
	// The regions from the last that starts at or before addr back to where none
	// reaches it.
	n, _ := slices.BinarySearchFunc(d.regions, addr, func(r jitRegion, addr uint64) int {
		if r.lo <= addr {
			return -1
		}
		return 1
	})
	best := -1
	for i := n - 1; i >= 0 && d.highest[i] > addr; i-- {
		r := &d.regions[i]
		if addr < r.hi && r.time <= time && (best < 0 || r.time > d.regions[best].time ||
			r.time == d.regions[best].time && r.load > d.regions[best].load) {
			best = i
		}
	}
	if best < 0 || time >= d.regions[best].gone {
		return Symbol{}, false
	}
	r := &d.regions[best]
	return Symbol{Addr: r.lo, Len: r.hi - r.lo, Name: d.Loads[r.load].Name}, true
}

const (
	jitMagic          = 0x4A695444 // "JiTD" on a big-endian machine
	jitHeaderSize     = 40
	jitRecordSize     = 16
	jitFlagArchTime   = 1 << 0
	jitCodeLoad       = 0
	jitCodeMove       = 1
	jitCodeDebugInfo  = 2
	jitCodeClose      = 3
	jitCodeUnwinding  = 4
	jitMaxName        = 1 << 16
	jitLoadFixed      = 4 + 4 + 8 + 8 + 8 + 8
	jitMoveFixed      = 4 + 4 + 8 + 8 + 8 + 8 + 8
	jitMaxHeaderBytes = 1 << 16
)

// ParseJITDump reads a jitdump file. Records of other kinds than loads and moves
// (source lines, unwinding information) are passed over. A file that ends within a
// record is not an error.
func ParseJITDump(r io.Reader) (*JITDump, error) {
	s := &jitStream{r: bufio.NewReaderSize(r, 1<<16)}
	d := &JITDump{}
	if err := s.header(d); err != nil {
		return nil, err
	}
	for {
		err := s.record(d)
		if err == io.EOF {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			d.Truncated = true
			break
		}
		if err != nil {
			return nil, err
		}
	}
	d.index()
	return d, nil
}

// jitStream reads records from a stream.
type jitStream struct {
	r   *bufio.Reader
	off int64
	big bool
}

// read returns a sectionReader over the next n bytes.
func (s *jitStream) read(n int) (*sectionReader, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(s.r, b)
	c := &sectionReader{data: b, base: s.off, section: "jitdump", big: s.big}
	s.off += int64(k)
	return c, err
}

func (s *jitStream) discard(n uint64) error {
	for n > 0 {
		k, err := s.r.Discard(int(min(n, 1<<30)))
		s.off += int64(k)
		n -= uint64(k)
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *jitStream) header(d *JITDump) error {
	c, err := s.read(jitHeaderSize)
	if err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return formatError("jitdump", 0, "header is cut short")
		}
		return fmt.Errorf("jitdump: %w", err)
	}
	switch magic := c.u32(); magic {
	case jitMagic:
	case bits.ReverseBytes32(jitMagic):
		s.big, c.big = true, true
	default:
		return formatError("jitdump", 0, "not a jitdump file")
	}
	version := c.u32()
	size := uint64(c.u32())
	d.Machine = uint16(c.u32())
	c.skip(4)
	d.PID = c.u32()
	d.Start = c.u64()
	d.ArchTime = c.u64()&jitFlagArchTime != 0
	if version != 1 {
		return fmt.Errorf("jitdump: version %d: %w", version, ErrUnsupported)
	}
	if size < jitHeaderSize || size > jitMaxHeaderBytes {
		return formatError("jitdump", 8, "header of %d bytes", size)
	}
	if err := s.discard(size - jitHeaderSize); err != nil {
		return fmt.Errorf("jitdump: %w", err)
	}
	return nil
}

// record reads one record. The error is io.EOF at the end.
func (s *jitStream) record(d *JITDump) error {
	start := s.off
	c, err := s.read(jitRecordSize)
	if err != nil {
		return err
	}
	kind, size, time := c.u32(), uint64(c.u32()), c.u64()
	if kind == 0 && size == 0 && time == 0 {
		return io.ErrUnexpectedEOF // zeros, where more was to be written
	}
	if size < jitRecordSize {
		return formatError("jitdump", start, "record of %d bytes", size)
	}
	size -= jitRecordSize
	switch kind {
	case jitCodeLoad:
		err = s.load(d, time, size, start)
	case jitCodeMove:
		err = s.move(d, time, size, start)
	default: // debug information, unwinding information, close
		err = s.discard(size)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (s *jitStream) load(d *JITDump, time, size uint64, start int64) error {
	if size < jitLoadFixed {
		return formatError("jitdump", start, "load record of %d bytes", size+jitRecordSize)
	}
	c, err := s.read(jitLoadFixed)
	if err != nil {
		return err
	}
	l := JITLoad{Time: time, PID: c.u32(), TID: c.u32(), Vma: c.u64(), Addr: c.u64(), Size: c.u64(), Index: c.u64()}
	size -= jitLoadFixed
	if l.Size > size {
		return formatError("jitdump", start, "code of %d bytes exceeds its record", l.Size)
	}
	if l.Size > math.MaxUint64-l.Addr {
		return formatError("jitdump", start, "%d bytes of code at %#x reach beyond the end of memory", l.Size, l.Addr)
	}
	name := size - l.Size
	if name == 0 || name > jitMaxName {
		return formatError("jitdump", start, "name of %d bytes", name)
	}
	if c, err = s.read(int(name)); err != nil {
		return err
	}
	if l.Name = string(c.cstring()); c.err != nil {
		return c.err
	}
	// The code follows the name; what is left is padding at the end.
	l.CodeOffset = s.off - int64(c.remaining())
	if err := s.discard(l.Size); err != nil {
		return err
	}
	d.Loads = append(d.Loads, l)
	return nil
}

func (s *jitStream) move(d *JITDump, time, size uint64, start int64) error {
	if size < jitMoveFixed {
		return formatError("jitdump", start, "move record of %d bytes", size+jitRecordSize)
	}
	c, err := s.read(jitMoveFixed)
	if err != nil {
		return err
	}
	m := JITMove{
		Time: time, PID: c.u32(), TID: c.u32(), Vma: c.u64(),
		OldAddr: c.u64(), NewAddr: c.u64(), Size: c.u64(), Index: c.u64(),
	}
	if m.Size > math.MaxUint64-m.NewAddr {
		return formatError("jitdump", start, "%d bytes of code at %#x reach beyond the end of memory", m.Size, m.NewAddr)
	}
	if err := s.discard(size - jitMoveFixed); err != nil {
		return err
	}
	d.Moves = append(d.Moves, m)
	return nil
}

// index works out which function was where when.
func (d *JITDump) index() {
	latest := make(map[uint64]int) // region of each code index
	type event struct {
		time       uint64
		load, move int // indexes, the other is −1
	}
	events := make([]event, 0, len(d.Loads)+len(d.Moves))
	for i := range d.Loads {
		events = append(events, event{d.Loads[i].Time, i, -1})
	}
	for i := range d.Moves {
		events = append(events, event{d.Moves[i].Time, -1, i})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	for _, e := range events {
		if e.load >= 0 {
			l := &d.Loads[e.load]
			latest[l.Index] = len(d.regions)
			d.regions = append(d.regions, jitRegion{l.Addr, l.Addr + l.Size, e.time, math.MaxUint64, e.load})
			continue
		}
		m := &d.Moves[e.move]
		i, known := latest[m.Index]
		if !known {
			continue // moved before it was loaded: the name is not known
		}
		d.regions[i].gone = e.time
		latest[m.Index] = len(d.regions)
		d.regions = append(d.regions, jitRegion{m.NewAddr, m.NewAddr + m.Size, e.time, math.MaxUint64, d.regions[i].load})
	}
	slices.SortStableFunc(d.regions, func(a, b jitRegion) int { return cmp.Compare(a.lo, b.lo) })
	d.highest = make([]uint64, len(d.regions))
	var highest uint64
	for i, r := range d.regions {
		highest = max(highest, r.hi)
		d.highest[i] = highest
	}
}
