package perfetto

import "fmt"

// A Kind says what a packet holds: the number of its field in TracePacket
// (protos/perfetto/trace/trace_packet.proto).
type Kind int32

// The kinds of packets that are read, here or by others.
const (
	FtraceEvents       Kind = 1
	ProcessTree        Kind = 2
	ClockSnapshot      Kind = 6
	ProcessStats       Kind = 9
	TrackEvent         Kind = 11
	TraceConfig        Kind = 33
	FtraceStats        Kind = 34
	TraceStats         Kind = 35
	ProfilePacket      Kind = 37
	AndroidLog         Kind = 39
	ProcessDescriptor  Kind = 43
	ThreadDescriptor   Kind = 44
	SystemInfo         Kind = 45
	PackagesList       Kind = 47
	ChromeMetadata     Kind = 51
	StreamingProfile   Kind = 54
	TrackDescriptor    Kind = 60
	ModuleSymbols      Kind = 61
	DeobfuscationMap   Kind = 64
	PerfSample         Kind = 66
	FrameTimeline      Kind = 76 // an extension of Android
	RemoteClockSync    Kind = 107
	GenericTaskState   Kind = 117
	GenericTaskRename  Kind = 120
	GenericProcessTree Kind = 122
	StackSample        Kind = 135
)

// Numbers of other fields: of TracePacket, TracePacketDefaults, ClockSnapshot and its clocks,
// RemoteClockSync, and of messages that are interned.
const (
	fieldTimestamp       = 8
	fieldSequenceID      = 10
	fieldInternedData    = 12
	fieldSequenceFlags   = 13
	fieldMarker          = 36
	fieldStateCleared    = 41
	fieldPacketDropped   = 42
	fieldZlibPackets     = 50
	fieldClockID         = 58
	fieldPacketDefaults  = 59
	fieldMachineID       = 98
	fieldZstdPackets     = 133
	flagStateCleared     = 1
	flagNeedsState       = 2
	defaultsClockID      = 58
	snapshotClocks       = 1
	snapshotPrimaryClock = 2
	clockID              = 1
	clockTimestamp       = 2
	clockIsIncremental   = 3
	clockUnit            = 4
	syncSyncedClocks     = 1
	syncedClocksOfClient = 2
	syncedClocksOfHost   = 3
	internedIID          = 1
	internedString       = 2
)

// kindNames are the names of fields that tell something in a list of what a trace holds.
var kindNames = map[Kind]string{
	FtraceEvents: "ftrace", ProcessTree: "process tree", ClockSnapshot: "clock snapshot", 5: "chrome events", 7: "system statistics",
	ProcessStats: "process statistics", TrackEvent: "track event", TraceConfig: "configuration", FtraceStats: "ftrace statistics",
	TraceStats: "trace statistics", ProfilePacket: "heap profile", 38: "battery", AndroidLog: "Android log", 40: "power rails",
	ProcessDescriptor: "process descriptor", ThreadDescriptor: "thread descriptor", SystemInfo: "system information",
	PackagesList: "package list", ChromeMetadata: "Chrome metadata", StreamingProfile: "streaming profile",
	52: "GPU counters", 53: "GPU render stages", 56: "Java heap graph", 57: "graphics frame", TrackDescriptor: "track descriptor", ModuleSymbols: "symbols",
	DeobfuscationMap: "deobfuscation", PerfSample: "perf sample", FrameTimeline: "frame timeline",
	67: "CPU information", 68: "smaps", 69: "service event", 89: "UUID",
	GenericTaskState: "task state", GenericTaskRename: "task rename", GenericProcessTree: "process tree", StackSample: "stack sample",
}

// String is the kind as messages call it.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("field %d", int32(k))
}

// describes reports whether packets of a kind say what others mean: [Open] hands them on
// before all events.
func (k Kind) describes() bool {
	switch k {
	case ProcessTree, TraceConfig, ProcessDescriptor, ThreadDescriptor, SystemInfo, PackagesList, ChromeMetadata, TrackDescriptor,
		ModuleSymbols, DeobfuscationMap, GenericProcessTree:
		return true
	}
	return false
}

// A Table is a kind of interned data: the number of its field in InternedData
// (protos/perfetto/trace/interned_data/interned_data.proto).
type Table int32

// The tables of interned data that are read.
const (
	EventCategories       Table = 1
	EventNames            Table = 2
	DebugAnnotationNames  Table = 3
	SourceLocations       Table = 4
	FunctionNames         Table = 5
	Frames                Table = 6
	Callstacks            Table = 7
	BuildIDs              Table = 16
	MappingPaths          Table = 17
	SourcePaths           Table = 18
	Mappings              Table = 19
	KernelSymbols         Table = 26
	DebugAnnotationValues Table = 29
	TaskContexts          Table = 48
	ExecutionContexts     Table = 49
	CounterDescriptors    Table = 50
)
