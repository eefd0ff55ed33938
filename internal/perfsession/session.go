// Package perfsession replays the records of a perf.data file to tell which
// process, thread and mapping each sample fell in.
//
//  1. Records are put in the order of their times: perf writes them by CPU and by round
//     (tools/perf/util/ordered-events.c).
//  2. MMAP, FORK, COMM and EXIT records change the address spaces and the threads, as in
//     tools/perf/util/machine.c and thread.c of Linux or simpleperf/thread_tree.cpp of
//     AOSP, whichever made the recording.
//  3. A stack that was recorded as memory is unwound by an [Unwinder]: its frames follow those
//     of the kernel.
//  4. Each frame of a sample's call chain is looked up in the address space of its
//     process as it was at that time.
//  5. Lost and dropped samples are counted ([Stats]).
package perfsession

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"

	"profdiff/internal/perffile"
	"profdiff/internal/slots"
)

// A Handler is told what happens while a recording is replayed, in the order of
// time.
type Handler interface {
	// Sample is called for every sample.
	Sample(*Sample) error
	// Switch is called when a CPU goes to or from a thread, for recordings that
	// have such records.
	Switch(Switch) error
}

// A Switch is a context switch at a time on the recording's clock in nanoseconds.
type Switch struct {
	PID, TID int32
	Time     uint64
	Out      bool // away from the thread
	// Preempted is set if the thread could go on but lost its CPU.
	Preempted bool
}

// A Session is the replay of one recording.
type Session struct {
	// Spaces has all address spaces of the recording. While a Handler is called they are
	// as they were at the time of the sample or switch that it is given.
	Spaces
	File  *perffile.File
	Stats Stats
	// Threads is their number so far; their IDs are below.
	Threads int
	// Kallsyms is the text of /proc/kallsyms on the recording machine if simpleperf, or
	// perf record --kcore, recorded it.
	Kallsyms []byte
	// Unwinder unwinds stacks that were recorded as memory, if it is set before the replay.
	Unwinder Unwinder
	// Written is what is known of the file.
	Written Written

	handler     Handler
	simpleperf  bool
	threads     map[int32]*Thread
	latest      [16]*Thread       // asked for, each where its number says
	buildIDs    map[string]string // by path, from the header
	names       []string
	nameIDs     slots.Table
	counts      map[counterKey]uint64
	times       map[counterKey]CounterTime
	unwindError bool   // of the next sample's stack
	first, last uint64 // times of records
	over        bool   // all records have been replayed
	code        UserCode
	suspects    []suspect
	out         Sample
	head        []Frame // scratch
}

// Stats counts what happened while replaying.
type Stats struct {
	// Samples counts SAMPLE records. UnknownEvent counts samples of an event that the
	// file does not have, BadPeriod samples with a period of 2^63 or more: both are not
	// handed on.
	Samples, UnknownEvent, BadPeriod int64
	// RawStacks counts samples that hold the user stack's memory instead of its call
	// chain (perf record --call-graph dwarf) and were not unwound, there being no
	// Unwinder. Ends counts those that were.
	RawStacks int64
	Ends      StackEnds
	// Lost counts what the kernel had no room for, by event where the recording
	// says it, else under -1.
	Lost map[int]int64
	// Unread are records of types that are not known.
	Unread Unread
	// Doubted are records of lost samples that are not counted in Lost.
	Doubted Doubted
	// Throttled counts how often the kernel paused an event that fired too often.
	Throttled int64
	// Times are, by event, for how long it was to count and did, as far as counters that
	// are read with samples say.
	Times map[int]CounterTime
	// Trace is a hardware trace in the recording.
	Trace Trace
	// AuxTruncated counts traces cut off because the buffer was full.
	AuxTruncated int64
	// Late counts records that came after newer ones had been replayed.
	Late int64
	// First and Last are the times of the first and last sample, in nanoseconds
	// of the recording's clock.
	First, Last uint64
}

// A Trace is a hardware trace, which is not decoded.
type Trace struct {
	// Recorded is set if there is one, or if samples hold pieces of it.
	Recorded bool
	Kind     string // such as Intel PT, "" if it is not known
	Bytes    uint64 // apart from what samples hold
}

// A CounterTime is for how long a counter was to count, and for how long it was on the
// hardware, in nanoseconds, over all its instances.
type CounterTime struct{ Enabled, Running float64 }

// LostSamples is the sum of Lost.
func (s *Stats) LostSamples() (n int64) {
	for _, v := range s.Lost {
		n += v
	}
	return n
}

// New prepares to replay f.
func New(f *perffile.File) *Session {
	s := &Session{
		Spaces:     NewSpaces(),
		File:       f,
		Kallsyms:   f.Kallsyms(),
		threads:    make(map[int32]*Thread),
		counts:     make(map[counterKey]uint64),
		times:      make(map[counterKey]CounterTime),
		simpleperf: f.Info.Simpleperf(),
	}
	s.intern(nil) // 0
	s.Stats.Lost = make(map[int]int64)
	return s
}

// Replay reads all records and tells h. It can be called once.
func (s *Session) Replay(h Handler) error {
	s.handler = h
	// simpleperf writes records in order. If not all records have times, the order of
	// the file is all there is.
	o := orderer{file: s.File, emit: s.record}
	ordered := !s.simpleperf
	for r, err := range s.File.Records() {
		if err != nil {
			return err
		}
		if ordered {
			err = o.add(r)
		} else {
			err = s.record(r)
		}
		if err != nil {
			return err
		}
	}
	if ordered {
		if err := o.flush(1<<64 - 1); err != nil {
			return err
		}
		s.Stats.Late = o.late
	}
	s.judge()
	s.over = true
	s.threads, s.nameIDs, s.counts, s.times = nil, slots.Table{}, nil, nil
	clear(s.latest[:])
	return nil
}

// record replays one record.
func (s *Session) record(r *perffile.Record) error {
	if r.Time != 0 {
		if s.first == 0 || r.Time < s.first {
			s.first = r.Time
		}
		s.last = max(s.last, r.Time)
	}
	switch r.Type {
	case perffile.RecordSample:
		if r.Time != 0 {
			if s.Stats.First == 0 || r.Time < s.Stats.First {
				s.Stats.First = r.Time
			}
			s.Stats.Last = max(s.Stats.Last, r.Time)
		}
		return s.sample(r)
	case perffile.RecordMmap, perffile.RecordMmap2:
		m, err := r.Mmap()
		if err != nil {
			return err
		}
		s.mmap(m, r.Misc)
	case perffile.RecordComm:
		c, err := r.Comm()
		if err != nil {
			return err
		}
		s.comm(c, r.Time)
	case perffile.RecordFork:
		t, err := r.Task()
		if err != nil {
			return err
		}
		s.fork(t, r.Misc, r.Time)
	case perffile.RecordExit:
		t, err := r.Task()
		if err != nil {
			return err
		}
		s.exit(t)
	case perffile.RecordLost, perffile.RecordLostSamples:
		return s.lost(r)
	case perffile.RecordThrottle:
		s.Stats.Throttled++
	case perffile.RecordAux:
		_, truncated, err := r.AuxLoss()
		if err != nil {
			return err
		}
		if truncated {
			s.Stats.AuxTruncated++
		}
	case perffile.RecordAuxtraceInfo, perffile.RecordAuxtrace:
		kind, size, err := r.Trace()
		if err != nil {
			return err
		}
		t := &s.Stats.Trace
		t.Recorded = true
		t.Kind = cmp.Or(t.Kind, kind)
		t.Bytes += size
	case perffile.RecordSwitch, perffile.RecordSwitchCPUWide:
		sw, err := r.Switch()
		if err != nil {
			return err
		}
		return s.handler.Switch(Switch{PID: sw.PID, TID: sw.TID, Time: r.Time, Out: sw.Out, Preempted: sw.Preempted})
	case perffile.RecordKsymbol:
		k, err := r.Ksymbol()
		if err != nil {
			return err
		}
		s.ksymbol(k)
	case perffile.RecordKernelSymbol:
		k, err := r.KernelSymbols()
		if err != nil {
			return err
		}
		s.Kallsyms = append([]byte(nil), k...)
	case perffile.RecordUnwindingResult:
		u, err := r.UnwindingResult()
		if err != nil {
			return err
		}
		s.unwindError = u.ErrorCode != 0
	default:
		if !r.Type.IsKnown() {
			s.Stats.Unread.add(r)
		}
	}
	return nil
}

// lost counts lost samples. perf from 6.1 on asks the kernel for the number of
// lost samples of each event and writes LOST_SAMPLES; LOST would count them again.
func (s *Session) lost(r *perffile.Record) error {
	const droppedByFilter = 1 << 15 // PERF_RECORD_MISC_LOST_SAMPLES_BPF
	if r.Type == perffile.RecordLostSamples && r.Misc&droppedByFilter != 0 {
		return nil
	}
	if r.Type == perffile.RecordLost && perfAtLeast(s.File.Info.Version, 6, 1) {
		return nil
	}
	n, event, err := r.Lost()
	if err != nil {
		return err
	}
	if n > plausibleLoss {
		s.suspects = append(s.suspects, suspect{r.Offset, event, n})
		return nil
	}
	s.Stats.Lost[event] = addLoss(s.Stats.Lost[event], n)
	return nil
}

// perfAtLeast compares a version of perf such as 6.1.187 or 5.15.g8bb7eca972ad.
func perfAtLeast(version string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n < 2 {
		return false
	}
	return a > major || a == major && b >= minor
}

// mmap adds a mapping.
func (s *Session) mmap(m perffile.Mmap, misc perffile.Misc) {
	if m.Len == 0 {
		return // the kernel's own, recorded without the right to see addresses
	}
	mapping := Mapping{
		Start: m.Start, End: endOf(m.Start, m.Len), PgOff: m.PgOff, Prot: m.Prot, PID: m.PID,
		DSO: s.dso(string(m.File), hex.EncodeToString(m.BuildID), misc.Kernel()),
	}
	if d := mapping.DSO; misc.Kernel() && d.IsKernelImage() && d.Text == 0 {
		d.Reference = referenceSymbol(string(m.File))
	}
	if m.Prot == 0 && misc&perffile.MiscMmapData != 0 {
		const read = 1 // PROT_READ
		mapping.Prot = read
	}
	mapping.DSO.identify(&m, mapping.Prot)
	switch {
	case misc.CPUMode() == perffile.CPUModeGuestKernel:
		s.put(&s.guest, mapping)
	case misc.Kernel():
		s.put(&s.kernel, mapping)
	default:
		s.put(&s.thread(m.PID, m.TID).Process.space, mapping)
	}
}

// dso returns the DSO for a path. A build ID that a mapping itself carries tells
// apart files that replaced each other under one path; the header has one per
// path.
func (s *Session) dso(path, buildID string, kernel bool) *DSO {
	if buildID == "" {
		buildID = s.headerBuildID(canonicalPath(path, kernel))
	}
	return s.DSO(path, buildID, kernel)
}

func (s *Session) headerBuildID(path string) string {
	if len(s.buildIDs) != len(s.File.Info.BuildIDs) {
		s.buildIDs = make(map[string]string)
		for i, b := range s.File.Info.BuildIDs {
			path := canonicalPath(b.Path, b.Kernel || strings.HasPrefix(b.Path, "[kernel"))
			if _, ok := s.buildIDs[path]; ok {
				path = fmt.Sprintf("\x00%d", i) // keeps the count, matches nothing
			}
			s.buildIDs[path] = hex.EncodeToString(b.ID)
		}
	}
	return s.buildIDs[path]
}

// ksymbol adds a piece of kernel code with a name. The name stays when the kernel
// unregisters it: CPUs may still run the code, and what comes to its place has a
// record of its own.
func (s *Session) ksymbol(k perffile.Ksymbol) {
	if k.Unregister || k.Len == 0 {
		return
	}
	d := s.dso(string(k.Name), "", true)
	if d.Symbol == "" {
		d.Symbol = string(k.Name)
	}
	s.put(&s.kernel, Mapping{Start: k.Addr, End: endOf(k.Addr, uint64(k.Len)), DSO: d, PID: -1})
}
