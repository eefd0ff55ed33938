package perffile

import "math/bits"

// A sampleLayout is what the sample type of an event says about where fields are.
type sampleLayout struct {
	id      int // offset of the id in a sample's body, -1 if there is none
	time    int // likewise of the time
	trailer int // bytes of the sample_id at the end of other records
	// Offsets from the start of the trailer, -1 if there is none.
	trailerID, trailerTime int
	hasTID                 bool
}

func layoutOf(a *Attr) sampleLayout {
	l := sampleLayout{id: -1, time: -1, trailerID: -1, trailerTime: -1}
	t := a.SampleType
	off := 0
	if t.Has(SampleIdentifier) {
		l.id = 0
		off += 8
	}
	for _, bit := range []SampleType{SampleIP, SampleTID, SampleTime, SampleAddr, SampleID} {
		if !t.Has(bit) {
			continue
		}
		switch {
		case bit == SampleTime:
			l.time = off
		case bit == SampleID && l.id < 0:
			l.id = off
		}
		off += 8
	}
	if !a.Flags.Has(FlagSampleIDAll) {
		return l
	}
	// Order of fields, must match struct sample_id in perf_event.h.
	for _, bit := range []SampleType{SampleTID, SampleTime, SampleID, SampleStreamID, SampleCPU, SampleIdentifier} {
		if !t.Has(bit) {
			continue
		}
		switch bit {
		case SampleTID:
			l.hasTID = true
		case SampleTime:
			l.trailerTime = l.trailer
		case SampleID, SampleIdentifier:
			l.trailerID = l.trailer
		}
		l.trailer += 8
	}
	return l
}

// A Sample is one sample, must match the comment on PERF_RECORD_SAMPLE in
// include/uapi/linux/perf_event.h. Fields that the event's sample type leaves out
// are zero. Slices share memory with the record or are reused by the next
// DecodeSample.
type Sample struct {
	Attr         int // index in File.Attrs, -1 if the sample names an unknown event
	Misc         Misc
	IP           uint64
	PID, TID     int32
	Time         uint64
	Addr         uint64
	ID           uint64
	StreamID     uint64
	CPU          uint32
	Period       uint64
	HasPeriod    bool
	Read         Read
	Callchain    []uint64 // markers included
	HasCallchain bool
	Raw          []byte
	// Branches are the last branches taken, newest first.
	Branches      []Branch
	BranchHWIndex int64 // index of the newest entry in hardware, -1 if unknown
	UserRegs      Regs
	// UserStack is the memory of the stack, from the stack pointer on. It is what the
	// kernel could copy; UserStackFull is set if that is all that it was to copy or had room
	// for, so that the stack may go on. Otherwise the copy met the end of the mapping.
	UserStack     []byte
	UserStackFull bool
	Weight        uint64
	DataSrc       uint64
	Transaction   uint64
	IntrRegs      Regs
	PhysAddr      uint64
	Cgroup        uint64
	DataPageSize  uint64
	CodePageSize  uint64
	Aux           []byte
}

// Read holds counter values, must match struct read_format.
type Read struct {
	TimeEnabled, TimeRunning uint64 // nanoseconds
	Values                   []ReadValue
}

// A ReadValue is the value of one counter.
type ReadValue struct {
	Value uint64
	ID    uint64 // 0 if the format has no ids
	Lost  uint64
}

// Regs are the registers of a thread.
type Regs struct {
	// ABI is that of enum perf_sample_regs_abi: 0 if there are none, as of threads of the
	// kernel, 1 of a 32-bit and 2 of a 64-bit process. On x86 and Arm it is wrong while the
	// process starts another program.
	ABI uint64
	// Mask has a bit for each register that was recorded: of the processor that the kernel
	// was built for, also for 32-bit processes (arch/*/include/uapi/asm/perf_regs.h).
	Mask uint64
	// Values are those of the registers in Mask, from its lowest bit on.
	Values []uint64
}

// A Branch is one entry of a branch stack, must match struct perf_branch_entry.
type Branch struct {
	From, To uint64
	// Mispredicted and Predicted are both false where the hardware does not say.
	Mispredicted, Predicted bool
	InTransaction, Abort    bool
	Cycles                  uint16 // since the previous branch, 0 if unknown
	Type                    uint8  // PERF_BR_*
	Spec                    uint8  // PERF_BR_SPEC_*
	NewType                 uint8  // PERF_BR_NEW_*
	Priv                    uint8  // PERF_BR_PRIV_*
}

// DecodeSample decodes a SAMPLE record into s, reusing its memory.
func (r *Record) DecodeSample(s *Sample) error {
	*s = Sample{
		Attr: r.Attr, Misc: r.Misc, Time: r.Time, BranchHWIndex: -1,
		Callchain: s.Callchain[:0], Branches: s.Branches[:0], Read: Read{Values: s.Read.Values[:0]},
		UserRegs: Regs{Values: s.UserRegs.Values[:0]}, IntrRegs: Regs{Values: s.IntrRegs.Values[:0]},
	}
	if r.Attr < 0 {
		return nil
	}
	a := &r.file.Attrs[r.Attr]
	t := a.SampleType
	c := fieldReader{data: r.Body, base: r.Offset + recordHeaderSize, section: "SAMPLE record", big: r.file.BigEndian}
	if t.Has(SampleIdentifier) {
		s.ID = c.u64()
	}
	if t.Has(SampleIP) {
		s.IP = c.u64()
	}
	if t.Has(SampleTID) {
		s.PID, s.TID = int32(c.u32()), int32(c.u32())
	}
	if t.Has(SampleTime) {
		s.Time = c.u64()
	}
	if t.Has(SampleAddr) {
		s.Addr = c.u64()
	}
	if t.Has(SampleID) {
		s.ID = c.u64()
	}
	if t.Has(SampleStreamID) {
		s.StreamID = c.u64()
	}
	if t.Has(SampleCPU) {
		s.CPU = c.u32()
		c.u32()
	}
	if t.Has(SamplePeriod) {
		s.Period = c.u64()
		s.HasPeriod = true
	}
	if t.Has(SampleRead) {
		decodeRead(&c, a.ReadFormat, &s.Read)
	}
	if t.Has(SampleCallchain) {
		s.Callchain = c.u64s(s.Callchain, c.u64())
		s.HasCallchain = true
	}
	if t.Has(SampleRaw) {
		s.Raw = c.bytes(uint64(c.u32()))
	}
	if t.Has(SampleBranchStack) {
		decodeBranches(&c, a.BranchSampleType, s)
	}
	if t.Has(SampleRegsUser) {
		decodeRegs(&c, a.SampleRegsUser, &s.UserRegs)
	}
	if t.Has(SampleStackUser) {
		s.UserStack, s.UserStackFull = decodeStack(&c)
	}
	if t&(SampleWeight|SampleWeightStruct) != 0 {
		s.Weight = c.u64()
	}
	if t.Has(SampleDataSrc) {
		s.DataSrc = c.u64()
	}
	if t.Has(SampleTransaction) {
		s.Transaction = c.u64()
	}
	if t.Has(SampleRegsIntr) {
		decodeRegs(&c, a.SampleRegsIntr, &s.IntrRegs)
	}
	if t.Has(SamplePhysAddr) {
		s.PhysAddr = c.u64()
	}
	if t.Has(SampleCgroup) {
		s.Cgroup = c.u64()
	}
	if t.Has(SampleDataPageSize) {
		s.DataPageSize = c.u64()
	}
	if t.Has(SampleCodePageSize) {
		s.CodePageSize = c.u64()
	}
	if t.Has(SampleAux) {
		s.Aux = c.bytes(c.u64())
	}
	return c.failure()
}

func decodeRead(c *fieldReader, f ReadFormat, r *Read) {
	n := uint64(1)
	var single uint64
	if f.Has(ReadGroup) {
		n = c.u64()
	} else {
		single = c.u64()
	}
	if f.Has(ReadTotalTimeEnabled) {
		r.TimeEnabled = c.u64()
	}
	if f.Has(ReadTotalTimeRunning) {
		r.TimeRunning = c.u64()
	}
	if n > uint64(c.remaining())/8 && f.Has(ReadGroup) {
		c.short(n * 8)
		return
	}
	for range n {
		v := ReadValue{Value: single}
		if f.Has(ReadGroup) {
			v.Value = c.u64()
		}
		if f.Has(ReadID) {
			v.ID = c.u64()
		}
		if f.Has(ReadLost) {
			v.Lost = c.u64()
		}
		r.Values = append(r.Values, v)
	}
}

func decodeBranches(c *fieldReader, t BranchSampleType, s *Sample) {
	n := c.u64()
	if t.Has(BranchHWIndex) {
		s.BranchHWIndex = int64(c.u64())
	}
	if n > uint64(c.remaining())/24 {
		c.short(n * 24)
		return
	}
	for range n {
		b := Branch{From: c.u64(), To: c.u64()}
		flags := c.u64()
		bit := func(off uint) bool { return bitfield(flags, off, 1, c.big) != 0 }
		b.Mispredicted = bit(0)
		b.Predicted = bit(1)
		b.InTransaction = bit(2)
		b.Abort = bit(3)
		b.Cycles = uint16(bitfield(flags, 4, 16, c.big))
		b.Type = uint8(bitfield(flags, 20, 4, c.big))
		b.Spec = uint8(bitfield(flags, 24, 2, c.big))
		b.NewType = uint8(bitfield(flags, 26, 4, c.big))
		b.Priv = uint8(bitfield(flags, 30, 3, c.big))
		s.Branches = append(s.Branches, b)
	}
	if t.Has(BranchCounters) {
		c.skip(n * 8)
	}
}

func decodeRegs(c *fieldReader, mask uint64, r *Regs) {
	r.ABI = c.u64()
	if r.ABI != 0 {
		r.Mask = mask
		r.Values = c.u64s(r.Values, uint64(bits.OnesCount64(mask)))
	}
}

// decodeStack decodes a copy of a stack: room for it, and how much of that was filled.
func decodeStack(c *fieldReader) (stack []byte, full bool) {
	size := c.u64()
	if size == 0 {
		return nil, false
	}
	stack = c.bytes(size)
	if used := c.u64(); used < uint64(len(stack)) {
		return stack[:used], false
	}
	return stack, true
}
