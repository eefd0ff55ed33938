package perffile

import (
	"fmt"
	"strconv"
	"strings"
)

// An Attr is one event as it was opened, must match struct perf_event_attr in
// include/uapi/linux/perf_event.h. Fields that a file is too old to have are
// zero.
type Attr struct {
	Type             EventType
	Size             uint32 // bytes that the recorder's struct had
	Config           uint64
	SamplePeriod     uint64 // sampling frequency in Hz if Flags has FlagFreq
	SampleType       SampleType
	ReadFormat       ReadFormat
	Flags            AttrFlags
	WakeupEvents     uint32
	BPType           uint32
	Config1          uint64
	Config2          uint64
	BranchSampleType BranchSampleType
	SampleRegsUser   uint64
	SampleStackUser  uint32
	ClockID          int32
	SampleRegsIntr   uint64
	AuxWatermark     uint32
	SampleMaxStack   uint16
	AuxSampleSize    uint32
	SigData          uint64
	Config3          uint64

	// IDs are the ids under which samples name this event; one per CPU and
	// thread on which it was opened.
	IDs []uint64
	// Name is the event as the recorder or, failing that, the kernel headers
	// call it, with modifiers: "cpu-cycles:u".
	Name string

	layout sampleLayout
}

// FixedPeriod is the number of events between samples, or 0 if the kernel
// varied it to reach a frequency.
func (a *Attr) FixedPeriod() uint64 {
	if a.Flags.Has(FlagFreq) {
		return 0
	}
	return a.SamplePeriod
}

// Frequency is the number of samples per second asked for, or 0.
func (a *Attr) Frequency() uint64 {
	if a.Flags.Has(FlagFreq) {
		return a.SamplePeriod
	}
	return 0
}

// EventType is the kind of an event, must match enum perf_type_id. Values from 6
// on are numbers of PMUs that vary by machine.
type EventType uint32

//go:generate go -C ../tools tool stringer -type=EventType,RecordType,Feature -linecomment -output=../perffile/names.go ../perffile
const (
	TypeHardware   EventType = 0 // hardware
	TypeSoftware   EventType = 1 // software
	TypeTracepoint EventType = 2 // tracepoint
	TypeHWCache    EventType = 3 // hw-cache
	TypeRaw        EventType = 4 // raw
	TypeBreakpoint EventType = 5 // breakpoint
)

// SampleType says which fields samples have, must match enum
// perf_event_sample_format.
type SampleType uint64

const (
	SampleIP           SampleType = 1 << 0
	SampleTID          SampleType = 1 << 1
	SampleTime         SampleType = 1 << 2
	SampleAddr         SampleType = 1 << 3
	SampleRead         SampleType = 1 << 4
	SampleCallchain    SampleType = 1 << 5
	SampleID           SampleType = 1 << 6
	SampleCPU          SampleType = 1 << 7
	SamplePeriod       SampleType = 1 << 8
	SampleStreamID     SampleType = 1 << 9
	SampleRaw          SampleType = 1 << 10
	SampleBranchStack  SampleType = 1 << 11
	SampleRegsUser     SampleType = 1 << 12
	SampleStackUser    SampleType = 1 << 13
	SampleWeight       SampleType = 1 << 14
	SampleDataSrc      SampleType = 1 << 15
	SampleIdentifier   SampleType = 1 << 16
	SampleTransaction  SampleType = 1 << 17
	SampleRegsIntr     SampleType = 1 << 18
	SamplePhysAddr     SampleType = 1 << 19
	SampleAux          SampleType = 1 << 20
	SampleCgroup       SampleType = 1 << 21
	SampleDataPageSize SampleType = 1 << 22
	SampleCodePageSize SampleType = 1 << 23
	SampleWeightStruct SampleType = 1 << 24

	knownSampleTypes = SampleWeightStruct<<1 - 1
)

// Has reports whether all bits of x are set.
func (t SampleType) Has(x SampleType) bool { return t&x == x }

// ReadFormat says how counter values are laid out, must match enum
// perf_event_read_format.
type ReadFormat uint64

const (
	ReadTotalTimeEnabled ReadFormat = 1 << 0
	ReadTotalTimeRunning ReadFormat = 1 << 1
	ReadID               ReadFormat = 1 << 2
	ReadGroup            ReadFormat = 1 << 3
	ReadLost             ReadFormat = 1 << 4
)

// Has reports whether all bits of x are set.
func (f ReadFormat) Has(x ReadFormat) bool { return f&x == x }

// BranchSampleType says which branches were recorded and how, must match enum
// perf_branch_sample_type.
type BranchSampleType uint64

const (
	BranchCallStack BranchSampleType = 1 << 11
	BranchHWIndex   BranchSampleType = 1 << 17
	BranchCounters  BranchSampleType = 1 << 19
)

// Has reports whether all bits of x are set.
func (t BranchSampleType) Has(x BranchSampleType) bool { return t&x == x }

// AttrFlags are the one-bit fields of struct perf_event_attr, bit i being the
// i-th field, and two fields of two bits.
type AttrFlags uint64

const (
	FlagDisabled      AttrFlags = 1 << 0
	FlagInherit       AttrFlags = 1 << 1
	FlagPinned        AttrFlags = 1 << 2
	FlagExclusive     AttrFlags = 1 << 3
	FlagExcludeUser   AttrFlags = 1 << 4
	FlagExcludeKernel AttrFlags = 1 << 5
	FlagExcludeHV     AttrFlags = 1 << 6
	FlagExcludeIdle   AttrFlags = 1 << 7
	FlagMmap          AttrFlags = 1 << 8
	FlagComm          AttrFlags = 1 << 9
	FlagFreq          AttrFlags = 1 << 10
	FlagInheritStat   AttrFlags = 1 << 11
	FlagEnableOnExec  AttrFlags = 1 << 12
	FlagTask          AttrFlags = 1 << 13
	FlagWatermark     AttrFlags = 1 << 14
	FlagMmapData      AttrFlags = 1 << 17
	FlagSampleIDAll   AttrFlags = 1 << 18
	FlagExcludeHost   AttrFlags = 1 << 19
	FlagExcludeGuest  AttrFlags = 1 << 20
	FlagMmap2         AttrFlags = 1 << 23
	FlagCommExec      AttrFlags = 1 << 24
	FlagUseClockID    AttrFlags = 1 << 25
	FlagContextSwitch AttrFlags = 1 << 26
	FlagNamespaces    AttrFlags = 1 << 28
	FlagKsymbol       AttrFlags = 1 << 29
	FlagBPFEvent      AttrFlags = 1 << 30
	FlagCgroup        AttrFlags = 1 << 32
	FlagTextPoke      AttrFlags = 1 << 33
	FlagBuildID       AttrFlags = 1 << 34
	FlagInheritThread AttrFlags = 1 << 35
)

// Has reports whether all bits of x are set.
func (f AttrFlags) Has(x AttrFlags) bool { return f&x == x }

// PreciseIP is how much skid is allowed: 0 any to 3 none.
func (f AttrFlags) PreciseIP() int { return int(f >> 15 & 3) }

// attrSizeVer0 is the size of the first published struct perf_event_attr.
const attrSizeVer0 = 64

// decodeAttr decodes the struct perf_event_attr that fills c.
func decodeAttr(c *fieldReader) Attr {
	var a Attr
	if c.remaining() < attrSizeVer0 {
		c.short(attrSizeVer0)
		return a
	}
	a.Type = EventType(c.u32())
	a.Size = c.u32()
	a.Config = c.u64()
	a.SamplePeriod = c.u64()
	a.SampleType = SampleType(c.u64())
	a.ReadFormat = ReadFormat(c.u64())
	a.Flags = decodeAttrFlags(c.u64(), c.big)
	a.WakeupEvents = c.u32()
	a.BPType = c.u32()
	a.Config1 = c.u64()
	// The rest came with later kernels, each a whole field at a time.
	for _, read := range []func(){
		func() { a.Config2 = c.u64() },
		func() { a.BranchSampleType = BranchSampleType(c.u64()) },
		func() { a.SampleRegsUser = c.u64() },
		func() { a.SampleStackUser = c.u32(); a.ClockID = int32(c.u32()) },
		func() { a.SampleRegsIntr = c.u64() },
		func() { a.AuxWatermark = c.u32(); a.SampleMaxStack = c.u16(); c.u16() },
		func() { a.AuxSampleSize = c.u32(); c.u32() },
		func() { a.SigData = c.u64() },
		func() { a.Config3 = c.u64() },
	} {
		if c.remaining() < 8 {
			break
		}
		read()
	}
	return a
}

// decodeAttrFlags brings the memory image of the bitfields into the order of
// AttrFlags.
func decodeAttrFlags(word uint64, big bool) AttrFlags {
	if !big {
		return AttrFlags(word)
	}
	var f uint64
	for i := uint(0); i < 64; i++ {
		if i == 15 { // precise_ip
			f |= bitfield(word, 15, 2, true) << 15
			i++
			continue
		}
		f |= bitfield(word, i, 1, true) << i
	}
	return AttrFlags(f)
}

// Names of the generic events, must match enum perf_hw_id and enum perf_sw_ids,
// spelled as perf does. simpleperf's spelling differs for two.
var (
	hardwareEvents = []string{
		"cycles", "instructions", "cache-references", "cache-misses", "branches",
		"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	}
	simpleperfSpelling = map[string]string{"cycles": "cpu-cycles", "branches": "branch-instructions"}
	softwareEvents     = []string{
		"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
		"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
		"bpf-output", "cgroup-switches",
	}
	cacheUnits   = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	cacheOps     = []string{"load", "store", "prefetch"}
	cacheOpPlurl = []string{"loads", "stores", "prefetches"}
)

// defaultName names an event whose recording has no name for it.
func (a *Attr) defaultName(simpleperf bool) string {
	var name string
	switch a.Type {
	case TypeHardware:
		// The upper half names the PMU on hybrid machines.
		if id := a.Config & 0xffffffff; id < uint64(len(hardwareEvents)) {
			name = hardwareEvents[id]
			if other, ok := simpleperfSpelling[name]; ok && simpleperf {
				name = other
			}
		}
	case TypeSoftware:
		if a.Config < uint64(len(softwareEvents)) {
			name = softwareEvents[a.Config]
		}
	case TypeHWCache:
		unit, op, result := a.Config&0xff, a.Config>>8&0xff, a.Config>>16&0xff
		if unit < uint64(len(cacheUnits)) && op < uint64(len(cacheOps)) && result <= 1 {
			if result == 1 {
				name = cacheUnits[unit] + "-" + cacheOps[op] + "-misses"
			} else {
				name = cacheUnits[unit] + "-" + cacheOpPlurl[op]
			}
		}
	case TypeRaw:
		name = "r" + strconv.FormatUint(a.Config, 16)
	case TypeBreakpoint:
		name = fmt.Sprintf("mem:%#x", a.Config1)
	}
	if name == "" {
		name = fmt.Sprintf("%d/config=%#x/", a.Type, a.Config)
	}
	return name + a.modifiers()
}

// modifiers is what perf appends to an event's name if not everything is counted: u, k
// and h for what is.
func (a *Attr) modifiers() string {
	var m strings.Builder
	f := a.Flags
	if f.Has(FlagExcludeUser) || f.Has(FlagExcludeKernel) {
		if !f.Has(FlagExcludeUser) {
			m.WriteByte('u')
		}
		if !f.Has(FlagExcludeKernel) {
			m.WriteByte('k')
		}
	}
	if m.Len() == 0 {
		return ""
	}
	return ":" + m.String()
}
