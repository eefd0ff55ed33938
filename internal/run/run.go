// Package run holds one recording as the rest of the program sees it: what was
// sampled, where, and the facts of the recording.
//
// A [Run] is pprof's data model (functions, locations, mappings, labelled
// samples with one value per event) in a compact form, plus what pprof cannot
// hold: when and how the recording was made, lost and dropped samples, work
// counters, and per stack the sum of squared weights from which the effective
// sample size follows.
//
// The form is a prefix tree of stacks and flat tables instead of
// *profile.Profile because a system-wide recording of 740,000 samples has some
// hundred thousand distinct stacks: as profile.Sample values they cost over a
// gigabyte, as tree nodes some tens of megabytes. [Run.WriteProfile] writes
// the pprof form, package ingest reads it.
//
//  1. A [Builder] numbers functions, locations, labels and stacks, equal ones once, and adds
//     up samples of one stack, event and labels.
//  2. [Filter] drops samples and accounts for them: what was read is what is shown and what
//     was dropped, by reason.
//  3. A run is summed by function, file, thread and so on ([Run.Group]), or as a tree
//     ([Run.Tree]). A function counts once in a stack.
//
// The sources are profile.proto of pprof, and Kish (Survey Sampling, 1965) for the
// effective sample size.
package run

import (
	"strings"
	"time"
)

// A Run is one recording, or several of one side merged on request. Tables
// refer to each other by index; index 0 of Mappings and Labels is "none", and
// stack 0 is the empty stack, so that zero values are meaningful.
type Run struct {
	// Name is the input as the user named it.
	Name      string
	Recording Recording
	Events    []Event
	Mappings  []Mapping
	Functions []Function
	// Calls is how often functions were called, by index, where a simulator counted that.
	Calls     map[uint32]int64
	Locations []Location
	Stacks    Stacks
	Labels    []Labels
	// Idle are files with code that were loaded and in which no frame of a sample is, where
	// the input tells.
	Idle []IdleFile
	// Samples holds one row per distinct (event, stack, labels), in the order
	// in which the first sample of each was seen.
	Samples []Sample
	// Timeline has every single sample in the order of time, if that was asked for
	// (Builder.KeepTimeline) and the input tells it: what comes in bursts varies more
	// than Samples show.
	Timeline []TimedSample
	// Spans are what an input tells the time of, in no order, and what Timeline does not have:
	// intervals of a trace, samples of a report. They are kept if the timeline is.
	Spans []TimedSample
	// Threads are what Waits and Holds refer to; index 0 is none. All three are there if
	// waits were asked for and the input tells of them.
	Threads []Thread
	Waits   []Wait
	Holds   []Hold
	// ShortWaits are the waits that Waits lacks.
	ShortWaits ShortWaits
	// Counters are totals of whole-run counters (perf stat, simpleperf stat,
	// work counters), in the order of the input.
	Counters []Counter
	// Measured are values that a trace tells one by one, in the order of the input.
	Measured   []Measured
	Accounting Accounting
	// Warnings are conditions that make numbers of this run less trustworthy,
	// each one line for the user.
	Warnings []string
}

// Recording says how, where and when the samples were taken. Unknown facts are
// zero.
type Recording struct {
	Format      string // "perf.data", "report-sample", "perf script", "folded", "pprof", …
	Tool        string // "perf 6.1.187", "simpleperf 1.build.11421629", …
	CommandLine string // of the recorder
	Command     string // that was recorded, as notes of the recording have it
	Arch        string // as uname -m prints it
	Kernel      string // as uname -r prints it
	Host        string
	CPU         string // model name or implementer
	CPUID       string // CPUID or MIDR string of the header
	CPUs        int    // online CPUs
	Device      string // manufacturer:model:name
	Build       string // Android build fingerprint
	SDK         string // Android SDK version
	App         string // Android package recorded
	Commit      string // that was checked out, built and recorded, as git log --oneline names it
	// Tree is the object of git that holds the files of Commit, and Dir where they were built, ""
	// if unknown.
	Tree, Dir string
	// Bound says what ended the recording if it was not its command, as the notes of the
	// recorder tell it: see [Run.Window].
	Bound string
	// Merged says who made this of many profiles, "" if it is one recording. Nothing tells how much
	// they varied.
	Merged string
	// Start is the time of the first sample on the wall clock. Duration is from
	// the first to the last sample.
	Start    time.Time
	Duration time.Duration
	// CommandTime is how long the command ran, as the recorder noted it, 0 if unknown.
	CommandTime time.Duration
	// FirstSample and LastSample are on the recording's own clock, in
	// nanoseconds: comparable between recordings of one boot.
	FirstSample, LastSample uint64
	// KernelSymbols says whether kernel addresses could be named when the
	// recording was made: "available", "unavailable", or "" (not said).
	KernelSymbols string
	TraceOffCPU   bool
	// Timeline is set if this was a trace: a recording of what happened when, not of samples alone.
	Timeline   bool
	Conditions Conditions
	// Holds says in a line what a trace has besides its events.
	Holds string
}

// An Event is something that was sampled.
type Event struct {
	// Name is the event as the recording names it, modifiers included:
	// "cpu-cycles:u".
	Name string
	// Unit of the weight: "nanoseconds", "cpu-cycles", "instructions", "count". Where a reader
	// does not know it, it is guessed from the name, see [EventUnit].
	Unit string
	// Derived marks events that profdiff computed from others, such as
	// off-cpu. Their samples are not part of the accounting.
	Derived bool
	// Leads is set if the recording says that this event is to be looked at first.
	Leads bool
	// Simulated marks events whose weights a simulator counted: they are exact, nothing
	// was sampled, and a second run gives the same.
	Simulated bool
	// Complete marks events of which all were recorded, such as each context switch, unless
	// some were lost: nothing was sampled, but another run differs.
	Complete bool
	// Period is the fixed number of events per sample, or 0 if the recorder
	// varied it to reach Frequency samples per second and CPU.
	Period    uint64
	Frequency uint64
	// Samples and Weight are totals over the run; WeightSq is Σw² over samples.
	Samples  int64
	Weight   int64
	WeightSq float64
	// MaxWeight is the weight of the heaviest sample, 0 if the input has sums only.
	MaxWeight int64
	// WeightSqLowerBound is set where the input gives sums of samples only
	// (pprof, folded stacks): WeightSq is then the least that is possible.
	WeightSqLowerBound bool
	// Lost is the number of samples of this event that the kernel or the
	// recorder reports as lost, where the input says so by event.
	Lost int64
	// Running is the share of the time in which the event was on the hardware, 0 to 1,
	// as counters that are read with samples tell it; 0 if unknown.
	Running float64
}

// EffectiveSamples is Kish's effective sample size (Σw)²/Σw²: the number of
// equally weighted samples that would carry as much information. Zero without
// samples.
func (e *Event) EffectiveSamples() float64 {
	if e.WeightSq == 0 {
		return 0
	}
	return float64(e.Weight) * float64(e.Weight) / e.WeightSq
}

// A Mapping is a file (or a kernel, a JIT cache, …) mapped into memory. Runs of
// the same file at different addresses share one Mapping, as pprof merges them.
type Mapping struct {
	// File is the path on the machine of the recording, not on this one.
	File    string
	BuildID string // lower-case hexadecimal, or ""
	// Start, Limit and Offset are the first memory range seen for it, in bytes.
	Start, Limit, Offset uint64
	Kind                 MappingKind
	// Parts is how many of the last parts of File tell it apart from other files, 0 if its
	// base name does.
	Parts int
	// What was named in this mapping; pprof re-symbolizes mappings that have none.
	HasFunctions, HasFilenames, HasLineNumbers, HasInlineFrames bool
	// Unnamed says why addresses in it have no names, zero if that is not known.
	Unnamed Unnamed
}

// An IdleFile is what is known of a file in which no frame is: see [Mapping].
type IdleFile struct {
	File, BuildID string
	Kind          MappingKind
}

// A MappingKind tells code of different nature apart.
type MappingKind uint8

// Kinds of mappings.
const (
	UnknownMapping MappingKind = iota
	NativeMapping
	KernelMapping
	ModuleMapping
	JavaMapping
	JITMapping
	VDSOMapping
)

// String is how users call the kind.
func (k MappingKind) String() string {
	return [...]string{"unknown", "native", "kernel", "kernel module", "java", "jit", "vdso"}[k]
}

// A Function is a function with the names under which it is known.
type Function struct {
	// Name is for people: demangled, retraced, and told apart from others, see [TellApart].
	Name       string
	SystemName string // for linkers: mangled, obfuscated
	File       string // source file
	StartLine  int64  // line of the definition, 0 if unknown
	// Origin tells the function apart from others of its name in one binary: the source file
	// that a static function is local to, or its address as "0x1234". "" if its name is its
	// own, or if nothing is known.
	Origin string
	// Apart is the length of the part of Origin that stands behind an @ at the end of Name, 0 if there is none: see [Function.Mark].
	Apart uint32
	// Unknown marks the stand-in for addresses without a name, such as
	// [libfoo.so].
	Unknown bool
}

// UnknownFunctionName is the stand-in for the functions of a file in which an
// address has no name: [libfoo.so]. It is the same on every build, so that
// unknown addresses of two recordings can be compared as a whole.
func UnknownFunctionName(file string) string {
	base := file[strings.LastIndexByte(file, '/')+1:]
	if base == "" {
		base = "unknown"
	}
	if strings.HasPrefix(base, "[") && strings.HasSuffix(base, "]") {
		return base
	}
	return "[" + base + "]"
}

// CutName is the function at the root of stacks whose outer frames the recording lacks, because
// it has too little of the stack's memory. It keeps them apart from what really
// starts a stack.
const CutName = "[cut]"

// IsCut reports whether the function stands for callers that were cut off.
func (f *Function) IsCut() bool { return f.Unknown && f.Name == CutName }

// A Location is one address, with the functions inlined there, innermost first.
type Location struct {
	Mapping uint32 // index in Run.Mappings
	// Address is in [Start, Limit) of the mapping, or 0 for inputs that have
	// no addresses.
	Address uint64
	Lines   []Line // at least one
}

// A Line is a function and the source line within it.
type Line struct {
	Function uint32 // index in Run.Functions
	Line     int64  // 0 if unknown
	Column   int64  // 0 if unknown
}

// Labels say in which thread and state a sample was taken. It is comparable:
// equal labels are equal values.
type Labels struct {
	Process string // command name of the process at the time of the sample
	Thread  string // name of the thread at the time of the sample
	// PID, TID and CPU are set if asked for, else -1.
	PID, TID, CPU int64
	State         string // "on-cpu", "off-cpu" or ""
	Mode          string // "user", "kernel", "guest", or "" if not asked for
	// Other holds further string labels of a pprof input as sorted
	// key NUL value NUL pairs, and OtherNum numeric ones as key NUL value NUL
	// unit NUL.
	Other, OtherNum string
}

// noLabels is the absence of labels.
var noLabels = Labels{PID: -1, TID: -1, CPU: -1}

// A Sample is the sum of all samples with the same event, stack and labels.
type Sample struct {
	Event  uint32 // index in Run.Events
	Stack  StackID
	Labels uint32 // index in Run.Labels
	Sum
}

// A Sum adds up samples.
type Sum struct {
	Count  int64 // samples
	Weight int64 // sum of weights w in the unit of the event
	// WeightSq is Σw², from which sampling noise is computed.
	WeightSq float64
}

// Add adds the samples that x stands for.
func (s *Sum) Add(x *Sum) {
	s.Count += x.Count
	s.Weight += x.Weight
	s.WeightSq += x.WeightSq
}

// A TimedSample is one sample.
type TimedSample struct {
	Weight int64
	// Time is when it was taken, in nanoseconds on the recording's own clock, as
	// Recording.FirstSample is; 0 in all samples of a recording that does not tell.
	Time          int64
	Event, Labels uint32
	Stack         StackID
	// Lasts is set if the weight is a time, in nanoseconds, that ended at Time.
	Lasts bool
}

// A Counter is the total of a counter over the whole run.
type Counter struct {
	Name  string
	Unit  string // "nanoseconds", "count", …
	Value float64
	// Running is the share of the time in which the counter was on the
	// hardware, 0 to 1; below 1 the Value was extrapolated. 0 if unknown.
	Running float64
}

// EventIndex returns the index of the event called name: an exact match, or
// else the only event that means the same (see [CanonicalEvent]).
func (r *Run) EventIndex(name string) (int, bool) {
	found := -1
	for i := range r.Events {
		if r.Events[i].Name == name {
			return i, true
		}
		if SameEvent(r.Events[i].Name, name) {
			if found >= 0 {
				found = -2
				break
			}
			found = i
		}
	}
	return found, found >= 0
}

// EventNames lists the events of the run for a message, or says why there is none as far
// as that is known.
func (r *Run) EventNames() string {
	var names []string
	for i := range r.Events {
		names = append(names, r.Events[i].Name)
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case len(r.Warnings) > 0:
		return "none (" + r.Warnings[0] + ")"
	}
	return "none"
}
