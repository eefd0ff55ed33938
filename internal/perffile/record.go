package perffile

import "math/bits"

// RecordType is the type of a record: of the kernel (1–63, must match enum
// perf_event_type), of perf (64–, must match enum perf_user_event_type in
// tools/lib/perf/include/perf/event.h), or of simpleperf (32768–, must match enum
// user_record_type in simpleperf/record.h).
type RecordType uint32

const (
	RecordMmap          RecordType = 1  // MMAP
	RecordLost          RecordType = 2  // LOST
	RecordComm          RecordType = 3  // COMM
	RecordExit          RecordType = 4  // EXIT
	RecordThrottle      RecordType = 5  // THROTTLE
	RecordUnthrottle    RecordType = 6  // UNTHROTTLE
	RecordFork          RecordType = 7  // FORK
	RecordRead          RecordType = 8  // READ
	RecordSample        RecordType = 9  // SAMPLE
	RecordMmap2         RecordType = 10 // MMAP2
	RecordAux           RecordType = 11 // AUX
	RecordItraceStart   RecordType = 12 // ITRACE_START
	RecordLostSamples   RecordType = 13 // LOST_SAMPLES
	RecordSwitch        RecordType = 14 // SWITCH
	RecordSwitchCPUWide RecordType = 15 // SWITCH_CPU_WIDE
	RecordNamespaces    RecordType = 16 // NAMESPACES
	RecordKsymbol       RecordType = 17 // KSYMBOL
	RecordBPFEvent      RecordType = 18 // BPF_EVENT
	RecordCgroup        RecordType = 19 // CGROUP
	RecordTextPoke      RecordType = 20 // TEXT_POKE
	RecordAuxOutputHWID RecordType = 21 // AUX_OUTPUT_HW_ID

	RecordHeaderAttr        RecordType = 64 // HEADER_ATTR
	RecordHeaderEventType   RecordType = 65 // HEADER_EVENT_TYPE
	RecordHeaderTracingData RecordType = 66 // HEADER_TRACING_DATA
	RecordHeaderBuildID     RecordType = 67 // HEADER_BUILD_ID
	RecordFinishedRound     RecordType = 68 // FINISHED_ROUND
	RecordIDIndex           RecordType = 69 // ID_INDEX
	RecordAuxtraceInfo      RecordType = 70 // AUXTRACE_INFO
	RecordAuxtrace          RecordType = 71 // AUXTRACE
	RecordAuxtraceError     RecordType = 72 // AUXTRACE_ERROR
	RecordThreadMap         RecordType = 73 // THREAD_MAP
	RecordCPUMap            RecordType = 74 // CPU_MAP
	RecordStatConfig        RecordType = 75 // STAT_CONFIG
	RecordStat              RecordType = 76 // STAT
	RecordStatRound         RecordType = 77 // STAT_ROUND
	RecordEventUpdate       RecordType = 78 // EVENT_UPDATE
	RecordTimeConv          RecordType = 79 // TIME_CONV
	RecordHeaderFeature     RecordType = 80 // HEADER_FEATURE
	RecordCompressed        RecordType = 81 // COMPRESSED
	RecordFinishedInit      RecordType = 82 // FINISHED_INIT
	RecordCompressed2       RecordType = 83 // COMPRESSED2
	RecordBPFMetadata       RecordType = 84 // BPF_METADATA

	RecordKernelSymbol    RecordType = 32769 // SIMPLEPERF_KERNEL_SYMBOL
	RecordDSO             RecordType = 32770 // SIMPLEPERF_DSO
	RecordSymbol          RecordType = 32771 // SIMPLEPERF_SYMBOL
	RecordSplit           RecordType = 32772 // SIMPLEPERF_SPLIT
	RecordSplitEnd        RecordType = 32773 // SIMPLEPERF_SPLIT_END
	RecordEventID         RecordType = 32774 // SIMPLEPERF_EVENT_ID
	RecordCallchain       RecordType = 32775 // SIMPLEPERF_CALLCHAIN
	RecordUnwindingResult RecordType = 32776 // SIMPLEPERF_UNWINDING_RESULT
	RecordTracingData     RecordType = 32777 // SIMPLEPERF_TRACING_DATA
	RecordDebug           RecordType = 32778 // SIMPLEPERF_DEBUG
)

// Untyped, so that the stringer does not take them for types of records.
const (
	firstUserRecord       = 64
	firstSimpleperfRecord = 32768
)

// IsKnown reports whether there are records of a type, whether or not profdiff has a use for them.
func (i RecordType) IsKnown() bool {
	return RecordMmap <= i && i <= RecordAuxOutputHWID || RecordHeaderAttr <= i && i <= RecordBPFMetadata ||
		RecordKernelSymbol <= i && i <= RecordDebug
}

// Misc is the misc field of a record's header, must match PERF_RECORD_MISC_*.
type Misc uint16

const (
	miscCPUModeMask Misc = 7

	CPUModeUnknown     Misc = 0
	CPUModeKernel      Misc = 1
	CPUModeUser        Misc = 2
	CPUModeHypervisor  Misc = 3
	CPUModeGuestKernel Misc = 4
	CPUModeGuestUser   Misc = 5

	MiscMmapData     Misc = 1 << 13 // MMAP: not executable
	MiscCommExec     Misc = 1 << 13 // COMM: because of exec
	MiscForkExec     Misc = 1 << 13 // FORK: by perf for the command it starts
	MiscSwitchOut    Misc = 1 << 13 // SWITCH: away from the thread
	MiscPreempted    Misc = 1 << 14 // SWITCH: which could go on
	MiscExactIP      Misc = 1 << 14 // SAMPLE
	MiscMmapBuildID  Misc = 1 << 14 // MMAP2: holds a build ID instead of an inode
	MiscBuildIDSize  Misc = 1 << 15 // HEADER_BUILD_ID: the ID's size follows it
	recordHeaderSize      = 8
)

// CPUMode is where the CPU was when the record was made.
func (m Misc) CPUMode() Misc { return m & miscCPUModeMask }

// Kernel reports whether the record belongs to the kernel of host or guest.
func (m Misc) Kernel() bool {
	mode := m.CPUMode()
	return mode == CPUModeKernel || mode == CPUModeGuestKernel
}

// Markers in call chains, must match enum perf_callchain_context.
const (
	ContextHV           uint64 = 1<<64 - 32
	ContextKernel       uint64 = 1<<64 - 128
	ContextUser         uint64 = 1<<64 - 512
	ContextUserDeferred uint64 = 1<<64 - 640
	ContextGuest        uint64 = 1<<64 - 2048
	ContextGuestKernel  uint64 = 1<<64 - 2176
	ContextGuestUser    uint64 = 1<<64 - 2560
	// ContextMax is the lowest value that is a marker or an error and not an
	// address.
	ContextMax uint64 = 1<<64 - 4095
)

// A Record is one record of the data section. It is valid until the next step of
// the iteration that yielded it; what its methods return shares its memory.
type Record struct {
	// Offset is where the record starts in the file. Records out of a
	// compressed one have the offset of that.
	Offset int64
	Type   RecordType
	Misc   Misc
	// Body is what follows the header, without data that a record announces
	// (AUXTRACE, HEADER_TRACING_DATA).
	Body []byte
	// Attr is the index in File.Attrs of the event that the record belongs to.
	// -1 if the record names an event that the file does not have, or, for
	// records of perf and simpleperf, none at all.
	Attr int
	// Time is in nanoseconds of the recording's clock, 0 if the record has none.
	Time uint64
	// End is where the record ends in the file, 0 if [File.Stretch] cannot read it again: out of a
	// compressed one, in pieces, or not in a file of its own.
	End int64

	file *File
}

// Kept is a record without its body: small and free of pointers, for those that
// must hold on to many records.
type Kept struct {
	Offset int64
	Time   uint64
	Type   RecordType
	Misc   Misc
	Attr   int32
}

// Keep returns what Restore needs.
func (r *Record) Keep() Kept {
	return Kept{Offset: r.Offset, Time: r.Time, Type: r.Type, Misc: r.Misc, Attr: int32(r.Attr)}
}

// Restore makes r the record k of f again. body is a copy of its Body.
func (r *Record) Restore(f *File, k Kept, body []byte) {
	*r = Record{Offset: k.Offset, Time: k.Time, Type: k.Type, Misc: k.Misc, Attr: int(k.Attr), Body: body, file: f}
}

func (r *Record) reader() fieldReader {
	return fieldReader{data: r.Body, base: r.Offset + recordHeaderSize, section: r.Type.String() + " record", big: r.file.BigEndian}
}

// payload reads the body without the sample_id at its end.
func (r *Record) payload() fieldReader {
	c := r.reader()
	if r.Type < firstUserRecord && r.Attr >= 0 {
		if n := r.file.Attrs[r.Attr].layout.trailer; n <= len(c.data) {
			c.data = c.data[:len(c.data)-n]
		}
	}
	return c
}

// A Mmap says that a file was mapped into the memory of a process or of the
// kernel. Must match struct perf_record_mmap and perf_record_mmap2.
type Mmap struct {
	PID, TID        int32
	Start, Len      uint64
	PgOff           uint64
	Major, Minor    uint32
	Inode           uint64
	InodeGen        uint64
	BuildID         []byte // nil if the record has none
	Prot, MmapFlags uint32
	File            []byte
}

// Mmap decodes a MMAP or MMAP2 record.
func (r *Record) Mmap() (Mmap, error) {
	c := r.payload()
	m := Mmap{
		PID: int32(c.u32()), TID: int32(c.u32()),
		Start: c.u64(), Len: c.u64(), PgOff: c.u64(),
	}
	if r.Type == RecordMmap2 {
		if r.hasMmapBuildID(&c) {
			size := c.u8()
			c.skip(3)
			id := c.bytes(20)
			if int(size) > len(id) {
				c.fail("build ID of %d bytes", size)
			} else {
				m.BuildID = id[:size]
			}
		} else {
			m.Major, m.Minor, m.Inode, m.InodeGen = c.u32(), c.u32(), c.u64(), c.u64()
		}
		m.Prot, m.MmapFlags = c.u32(), c.u32()
	}
	m.File = cutNUL(c.rest())
	return m, c.failure()
}

// hasMmapBuildID reports whether an MMAP2 record has a build ID where others have an
// inode. The kernel keeps the flag that says so in a place that all recordings share: as
// long as one asks for build IDs, the records of others have the flag, too
// (perf_event_mmap_event in kernel/events/core.c). So the flag counts if the event asked
// for build IDs, or if the field looks like one that a tool put there.
func (r *Record) hasMmapBuildID(field *fieldReader) bool {
	if r.Misc&MiscMmapBuildID == 0 {
		return false
	}
	if r.Attr >= 0 && r.file.Attrs[r.Attr].Flags.Has(FlagBuildID) {
		return true
	}
	size := field.peek(0)
	return (size == 16 || size == 20) && field.peek(1) == 0 && field.peek(2) == 0 && field.peek(3) == 0
}

// A Comm names a thread. Must match struct perf_record_comm.
type Comm struct {
	PID, TID int32
	Name     []byte
	Exec     bool // the process started another program
}

// Comm decodes a COMM record.
func (r *Record) Comm() (Comm, error) {
	c := r.payload()
	m := Comm{PID: int32(c.u32()), TID: int32(c.u32()), Exec: r.Misc&MiscCommExec != 0}
	m.Name = cutNUL(c.rest())
	return m, c.failure()
}

// A Task is the start or end of a thread. Must match struct perf_record_fork.
type Task struct {
	PID, PPID, TID, PTID int32
	Time                 uint64
}

// Task decodes a FORK or EXIT record.
func (r *Record) Task() (Task, error) {
	c := r.payload()
	t := Task{PID: int32(c.u32()), PPID: int32(c.u32()), TID: int32(c.u32()), PTID: int32(c.u32())}
	t.Time = c.u64()
	return t, c.failure()
}

// Lost decodes a LOST or LOST_SAMPLES record: how many records the kernel had no
// room for, and the event they belong to as an index in File.Attrs, or -1.
func (r *Record) Lost() (n uint64, attr int, err error) {
	c := r.payload()
	attr = r.Attr
	if r.Type == RecordLost {
		if a, ok := r.file.ids[c.u64()]; ok {
			attr = a
		}
	}
	n = c.u64()
	return n, attr, c.failure()
}

// A Switch says that a CPU went from or to a thread. Must match struct
// perf_record_switch.
type Switch struct {
	PID, TID int32 // the thread that the record is about
	Out      bool
	// Preempted is set if the thread could go on but lost its CPU (since Linux 4.17).
	Preempted bool
}

// Switch decodes a SWITCH or SWITCH_CPU_WIDE record. The thread is in the
// sample_id at its end; PID and TID are -1 if the recording has none.
func (r *Record) Switch() (Switch, error) {
	s := Switch{PID: -1, TID: -1, Out: r.Misc&MiscSwitchOut != 0}
	s.Preempted = s.Out && r.Misc&MiscPreempted != 0
	c := r.reader()
	if r.Attr >= 0 {
		l := &r.file.Attrs[r.Attr].layout
		if l.trailer > 0 && l.hasTID && l.trailer <= len(c.data) {
			c.skip(uint64(len(c.data) - l.trailer))
			s.PID, s.TID = int32(c.u32()), int32(c.u32())
		}
	}
	return s, c.failure()
}

// A Ksymbol says that code with a name appeared in or went from the kernel's
// memory, such as a BPF program. Must match struct perf_record_ksymbol.
type Ksymbol struct {
	Addr       uint64
	Len        uint32
	KsymType   uint16 // 1 BPF, 2 out of line code
	Unregister bool
	Name       []byte
}

// Ksymbol decodes a KSYMBOL record.
func (r *Record) Ksymbol() (Ksymbol, error) {
	c := r.payload()
	k := Ksymbol{Addr: c.u64(), Len: c.u32(), KsymType: c.u16()}
	k.Unregister = c.u16()&1 != 0
	k.Name = cutNUL(c.rest())
	return k, c.failure()
}

// AuxLoss tells what an AUX record says about lost trace data: bytes written, and
// whether the buffer was full. Must match struct perf_record_aux.
func (r *Record) AuxLoss() (size uint64, truncated bool, err error) {
	c := r.payload()
	c.u64()
	size = c.u64()
	truncated = c.u64()&1 != 0 // PERF_AUX_FLAG_TRUNCATED
	return size, truncated, c.failure()
}

// Trace decodes an AUXTRACE_INFO or AUXTRACE record: the kind of a hardware trace, or ""
// if the record does not say, and how many bytes of the trace follow the record. Must
// match enum auxtrace_type in tools/perf/util/auxtrace.h.
func (r *Record) Trace() (kind string, size uint64, err error) {
	c := r.payload()
	if r.Type == RecordAuxtrace {
		return "", c.u64(), c.failure()
	}
	kinds := []string{1: "Intel PT", 2: "Intel BTS", 3: "Arm CoreSight", 4: "Arm SPE", 5: "s390 CPU-MSF", 6: "HiSilicon PTT"}
	if i := c.u32(); i < uint32(len(kinds)) {
		kind = kinds[i]
	}
	return kind, 0, c.failure()
}

// A BuildID names the exact contents of a file. Must match struct
// perf_record_header_build_id.
type BuildID struct {
	PID    int32
	Misc   Misc
	ID     []byte
	Path   string
	Kernel bool
}

// BuildID decodes a HEADER_BUILD_ID record.
func (r *Record) BuildID() (BuildID, error) {
	c := r.reader()
	b := decodeBuildID(&c, r.Misc)
	return b, c.failure()
}

// buildIDSpace is the room for a build ID in struct perf_record_header_build_id:
// 20 bytes rounded up to a multiple of 8; the size follows the ID.
const buildIDSpace = 24

func decodeBuildID(c *fieldReader, misc Misc) BuildID {
	b := BuildID{PID: int32(c.u32()), Misc: misc, Kernel: misc.Kernel()}
	space := c.bytes(buildIDSpace)
	if len(space) == buildIDSpace {
		if size := space[20]; misc&MiscBuildIDSize != 0 && size <= 20 {
			b.ID = space[:size]
		} else {
			b.ID = trimPadding(space[:20])
		}
	}
	b.Path = string(cutNUL(c.rest()))
	return b
}

// trimPadding removes the zeros that fill up IDs shorter than 20 bytes, in groups
// of four bytes as IDs come in (md5 has 16), and makes an ID of zeros nil.
func trimPadding(id []byte) []byte {
	for len(id) >= 4 && id[len(id)-1]|id[len(id)-2]|id[len(id)-3]|id[len(id)-4] == 0 {
		id = id[:len(id)-4]
	}
	if len(id) == 0 {
		return nil
	}
	return id
}

// KernelSymbols returns the text of /proc/kallsyms in a simpleperf
// KERNEL_SYMBOL record.
func (r *Record) KernelSymbols() ([]byte, error) {
	c := r.reader()
	b := c.bytes(uint64(c.u32()))
	return b, c.failure()
}

// A Callchain is a stack that simpleperf unwound or joined later, must match
// struct CallChainRecord.
type Callchain struct {
	PID, TID int32
	Kind     uint64
	Time     uint64
	IPs, SPs []uint64
}

// Callchain decodes a simpleperf CALLCHAIN record.
func (r *Record) Callchain() (Callchain, error) {
	c := r.reader()
	k := Callchain{PID: int32(c.u32()), TID: int32(c.u32()), Kind: c.u64(), Time: c.u64()}
	n := c.u64()
	k.IPs = c.u64s(nil, n)
	k.SPs = c.u64s(nil, n)
	return k, c.failure()
}

// An UnwindingResult says how simpleperf unwound the stack of the next sample, must match
// struct UnwindingResultRecord.
type UnwindingResult struct {
	Time      uint64
	UsedTime  uint64 // nanoseconds
	ErrorCode uint64 // of libunwindstack, 0 is none
	ErrorAddr uint64
	// What it was unwound from, and to, if simpleperf kept it
	// (--keep-failed-unwinding-debug-info): as in [Sample].
	StackStart, StackEnd uint64
	UserRegs             Regs
	UserStack            []byte
	UserStackFull        bool
	IPs, SPs             []uint64
}

// UnwindingResult decodes a simpleperf UNWINDING_RESULT record.
func (r *Record) UnwindingResult() (UnwindingResult, error) {
	c := r.reader()
	u := UnwindingResult{Time: c.u64(), UsedTime: c.u64(), ErrorCode: c.u64(), ErrorAddr: c.u64()}
	if c.remaining() > 0 {
		u.StackStart, u.StackEnd = c.u64(), c.u64()
		u.UserRegs = Regs{ABI: c.u64(), Mask: c.u64()}
		u.UserRegs.Values = c.u64s(nil, uint64(bits.OnesCount64(u.UserRegs.Mask)))
		u.UserStack, u.UserStackFull = decodeStack(&c)
	}
	if c.remaining() > 0 { // recordings of 2020 end before it
		n := c.u64()
		u.IPs, u.SPs = c.u64s(nil, n), c.u64s(nil, n)
	}
	return u, c.failure()
}
