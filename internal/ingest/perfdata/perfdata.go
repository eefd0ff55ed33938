// Package perfdata turns perf.data files of perf and simpleperf into Runs.
//
//  1. Package perfsession replays the records in the order of time: each sample comes with its
//     process, its thread and the mapping of each of its frames.
//  2. A second goroutine interns what comes, in batches: a frame is a place, a segment of a
//     file and an offset in it; a stack is a node of the Run's tree. Addresses are not named
//     yet, so that each is named once.
//  3. Time off the CPU is the time from the sample that says where a thread left the CPU to
//     when it was back; counters that were read along are events of their own. If it is asked
//     for, each such time is kept, with the thread's state and who woke it.
//  4. Samples are accounted for: read, lost, or dropped for a reason.
//  5. Package symbolizer names the places: functions, files, lines, inlined calls.
//  6. Frames of the Java runtime between Java frames are dropped, and a compiled method is
//     merged with its interpreted form, as simpleperf's report does.
package perfdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
	"profdiff/internal/userstack"
)

// reader turns a perf.data file into a Run. One goroutine replays the recording
// and hands the samples over in batches, another interns their stacks; their
// addresses are named afterwards, each once.
type reader struct {
	opt     *reading.Options
	file    *perffile.File
	session *perfsession.Session
	files   *objects.Store // as the recording sees it
	z       *symbolizer.Symbolizer
	b       *run.Builder

	// traceOff is set for recordings that tell when threads were off the CPU. leaves
	// are the events, by index in File.Attrs, that say where they left it.
	traceOff bool
	leaves   []bool

	// Of the goroutine that replays.
	batch      *batch // being filled
	full       chan *batch
	free       chan *batch
	added      chan struct{} // closed when all batches have been added
	labelled   []labelled    // latest labels of the threads, by perfsession.Thread.ID
	dsosSeen   int           // of session.DSOs, by noteJITDumps
	jitDumps   bool
	segments   []segment
	segmentOf  []uint32 // by perfsession.Mapping.ID, +1
	segmentIDs map[segmentKey]uint32
	places     []place // by location of the run
	placeTable placeTable
	seen       *recentPlaces
	memory     *perfsession.DSO // of a process, where no record shows what is mapped

	// Of the goroutine that adds.
	events   []uint32 // in the run, by index in File.Attrs
	counters []uint32 // likewise, of events that were only counted along
	// next is the field of samples of sched:sched_switch that says which thread the CPU goes to, if these alone
	// tell when threads are back; nil if records do.
	next    *perffile.TracepointField
	unseen  int64 // times that a thread was back without a switch to it
	onCPU   uint32
	offCPU  uint32
	blocked map[int32]blocked // by thread
	waits   *waits            // nil if they are not asked for
	// paths are the latest stacks of the threads, by perfsession.Thread.ID: all
	// stacks on the way from the outermost frame to the leaf.
	paths [][]run.StackID
}

func readFile(src *input.Source, f *perffile.File, opt *reading.Options) (*run.Run, error) {
	p := &reader{
		opt: opt, file: f, session: perfsession.New(f), b: run.NewBuilder(src.Name),
		segments:   make([]segment, 1),
		segmentIDs: make(map[segmentKey]uint32),
		seen:       new(recentPlaces),
		blocked:    make(map[int32]blocked),
	}
	if opt.Timeline {
		p.b.KeepTimeline()
	}
	if opt.Waits {
		p.waits = newWaits()
	}
	p.memory = p.session.DSO("[memory]", "", false)
	if err := p.prepareSymbols(src); err != nil {
		return nil, err
	}
	p.addEvents()
	if err := p.replay(); err != nil {
		return nil, err
	}
	if p.waits != nil {
		p.waits.finish(p)
		p.waits = nil // and the threads
	}
	p.placeTable, p.seen, p.paths, p.labelled = placeTable{}, nil, nil, nil
	p.b.StacksAdded()
	p.account()
	p.describe()
	p.symbolize()
	r, err := p.b.Finish()
	if err != nil {
		return nil, err
	}
	if p.session.Stats.Ends.Total() == 0 {
		accountStrays(r, p.file.Info.Simpleperf())
	}
	(&namer{p: p}).unnamed(r)
	return r, nil
}

// addEvents adds the events that have become known, also those without samples, so
// that two recordings of one command have the same events.
func (p *reader) addEvents() {
	for i := len(p.events); i < len(p.file.Attrs); i++ {
		a := &p.file.Attrs[i]
		p.events = append(p.events, noEvent)
		p.counters = append(p.counters, noEvent)
		const clockMonotonic = 1
		p.z.Monotonic = a.Flags.Has(perffile.FlagUseClockID) && a.ClockID == clockMonotonic
		const dummy = 9 // PERF_COUNT_SW_DUMMY, opened for its side-band records
		if a.Type == perffile.TypeSoftware && a.Config == dummy || p.file.TracePMU(i) != "" {
			continue
		}
		p.addEvent(i)
	}
	for i := len(p.leaves); i < len(p.file.Attrs); i++ {
		p.leaves = append(p.leaves, p.leavesCPU(i))
	}
	if !p.traceOff && (p.simpleperfTraceOff() || slices.Contains(p.leaves, true)) {
		p.traceOff = true
		p.onCPU, p.offCPU = noEvent, p.b.Event(run.Event{Name: "off-cpu", Derived: true, Complete: true})
		if p.simpleperfTraceOff() && len(p.file.Attrs) > 0 && eventUnit(&p.file.Attrs[0]) == "nanoseconds" {
			p.onCPU = p.b.Event(run.Event{Name: "on-cpu", Derived: true})
		}
	}
}

func (p *reader) simpleperfTraceOff() bool { return p.file.Info.MetaInfo["trace_offcpu"] == "true" }

// leavesCPU reports whether samples of an event say where threads leave the CPU: all
// but the first of simpleperf record --trace-offcpu, and each context switch, or else
// each sched:sched_switch, of perf record --switch-events, whose records say when the
// threads are back. Where both were recorded, the kernel takes the sample of the context
// switch last. Of the whole system, as perf sched records it, each sched:sched_switch alone says both, as the thread
// to which the CPU goes is back; of some threads it does not: whose CPU was idle comes back unseen.
func (p *reader) leavesCPU(event int) bool {
	if p.file.Info.Simpleperf() {
		return p.simpleperfTraceOff() && event > 0
	}
	var counted, timed bool
	for i := range p.file.Attrs {
		a := &p.file.Attrs[i]
		counted = counted || countsSwitches(a)
		timed = timed || a.Flags.Has(perffile.FlagContextSwitch)
	}
	a := &p.file.Attrs[event]
	if !timed && !counted && a.FixedPeriod() == 1 && a.SampleType.Has(perffile.SampleRaw) && p.file.SystemWide(a) {
		next := nextThread(p.file.Tracepoint(a))
		p.next = cmp.Or(p.next, next)
		return next != nil
	}
	return timed && (countsSwitches(a) || !counted && a.Name == reading.SwitchEvent && a.FixedPeriod() == 1)
}

// nextThread is the field that says which thread the CPU goes to, nil if the tracepoint is not sched:sched_switch.
func nextThread(t *perffile.Tracepoint) *perffile.TracepointField {
	if t == nil || t.System+":"+t.Name != reading.SwitchEvent {
		return nil
	}
	if f, ok := t.Field("next_pid"); ok {
		return &f
	}
	return nil
}

const noEvent = 1<<32 - 1

func (p *reader) addEvent(i int) uint32 {
	a := &p.file.Attrs[i]
	p.events[i] = p.b.Event(run.Event{Name: a.Name, Unit: eventUnit(a), Period: a.FixedPeriod(), Frequency: a.Frequency(), Complete: complete(a)})
	return p.events[i]
}

// eventUnit is the unit of an event by what it counts (linux/perf_event.h), whatever its name
// is: perf record -e cpu-clock/name=foo/ counts time.
func eventUnit(a *perffile.Attr) string {
	const id = 1<<32 - 1 // of a hybrid CPU the upper half says which of its PMUs counts
	switch {
	case a.Type == perffile.TypeSoftware && (a.Config == 0 || a.Config == 1): // CPU_CLOCK, TASK_CLOCK
		return "nanoseconds"
	case a.Type == perffile.TypeHardware && a.Config&id == 0:
		return "cpu-cycles"
	case a.Type == perffile.TypeHardware && a.Config&id == 1:
		return "instructions"
	case a.Type == perffile.TypeHardware, a.Type == perffile.TypeSoftware, a.Type == perffile.TypeTracepoint:
		return "count"
	}
	if unit := run.EventUnit(a.Name); unit != "nanoseconds" {
		return unit // of a CPU that names its own events
	}
	return "count"
}

// account sets what became of the samples.
func (p *reader) account() {
	s := &p.session.Stats
	a := &p.b.Run().Accounting
	a.In += s.Samples
	a.Drop("unknown event", s.UnknownEvent)
	a.Drop("weight over 2^63", s.BadPeriod)
	a.Lost = s.LostSamples()
	a.Throttled = s.Throttled
	r := p.b.Run()
	for event, n := range s.Lost {
		// A recording without events may have lost samples all the same.
		if event >= 0 && event < len(p.events) && p.events[event] != noEvent {
			r.Events[p.events[event]].Lost += n
		}
	}
	for event, t := range s.Times {
		if event < len(p.events) && p.events[event] != noEvent && t.Enabled > 0 {
			r.Events[p.events[event]].Running = t.Running / t.Enabled
		}
	}
	if s.Late > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d records were out of order by more than a round: names of threads and mappings near them may be wrong", s.Late))
	}
	for _, doubt := range []fmt.Stringer{&s.Unread, &s.Doubted} {
		if line := doubt.String(); line != "" {
			r.Warnings = append(r.Warnings, line)
		}
	}
	if n := len(p.blocked); n > 0 && p.traceOff {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d threads were off the CPU at the end: that time is not counted", n))
	}
	if p.unseen > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d times a thread was back without a switch to it: how long it was off the CPU is not known, and not counted", p.unseen))
	}
	if t := p.file.Stats.Truncated; t != nil {
		r.Warnings = append(r.Warnings, "recording is incomplete: "+t.Error())
	}
	p.accountStacks()
	if s.Trace.Recorded {
		hint := ""
		if !p.file.Info.Simpleperf() {
			hint = ": perf inject --itrace=i100us makes samples of it"
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d bytes of the recording are a hardware trace (%s), which is not decoded%s",
			s.Trace.Bytes, cmp.Or(s.Trace.Kind, "of an unknown kind"), hint))
	}
	if s.AuxTruncated > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d times the hardware trace was cut off because its buffer was full", s.AuxTruncated))
	}
}

// describe takes over the facts of the recording.
func (p *reader) describe() {
	info := &p.file.Info
	r := &p.b.Run().Recording
	*r = run.Recording{
		Format: "perf.data", CommandLine: run.JoinWords(info.Cmdline), Arch: info.Arch, Kernel: info.OSRelease,
		Host: info.Hostname, CPU: info.CPUDesc, CPUID: info.CPUID, CPUs: int(info.CPUsOnline),
		FirstSample: p.session.Stats.First, LastSample: p.session.Stats.Last,
		Start: p.session.Stats.Start(info), Duration: p.session.Stats.Duration(),
		TraceOffCPU: p.traceOff,
	}
	r.Tool = info.Tool()
	if !info.Simpleperf() {
		return
	}
	meta := info.MetaInfo
	r.Tool = "simpleperf"
	if v := meta["simpleperf_version"]; v != "" {
		r.Tool += " " + v
	}
	r.Device = strings.Trim(meta["product_props"], ":")
	r.Build = meta["android_build_fingerprint"]
	r.SDK = meta["android_sdk_version"]
	r.App = meta["app_package_name"]
	switch meta["kernel_symbols_available"] {
	case "true":
		r.KernelSymbols = "available"
	case "false":
		r.KernelSymbols = "unavailable"
	}
}

// prepareSymbols makes the symbolizer and gives it the symbols of the recording.
func (p *reader) prepareSymbols(src *input.Source) error {
	info := &p.file.Info
	p.files = p.opt.Objects.Of(objects.Recording{
		Dir: src.Dir, LateHost: func() string { return info.Hostname }, Ended: perfsession.Ended(info, src.Modified),
	})
	p.session.Unwinder = userstack.New(p.files)
	p.session.Written = perfsession.Written{Created: src.Created, Modified: src.Modified}
	files := p.files
	if p.opt.Unnamed {
		files = nil
	}
	p.z = symbolizer.New(symbolizer.Options{
		Simpleperf: info.Simpleperf(), Objects: files, Kallsyms: p.opt.Kallsyms,
	})
	return p.z.AddRecording(p.session)
}

// symbolize names all places.
func (p *reader) symbolize() {
	r := p.b.Run()
	n := namer{p: p, z: p.z, kernel: p.session.Kernel(), mappings: make(map[mappingKey]uint32), ambiguous: make(map[string]bool)}
	n.name()
	n.idle()
	if n.names != nil && !p.opt.ShowARTFrames {
		n.mergeJava()
	}
	if k := len(n.ambiguous); k > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d obfuscated methods have several original names, of which the last in the mapping is shown", k))
	}
	r.Warnings = append(r.Warnings, p.z.Warnings()...)
	p.warnUnchanged(r)
}

// warnUnchanged names files that have cost and are known by inode and time alone. perf notes
// build IDs of files in which samples are, so that mostly there are none.
func (p *reader) warnUnchanged(r *run.Run) {
	var names []string
	for i := range p.segments {
		s := &p.segments[i]
		if s.count > 0 && s.first.DSO != nil && p.files.Unchanged(objects.FileOf(s.first.DSO)) && !slices.Contains(names, s.first.DSO.Path) {
			names = append(names, s.first.DSO.Path)
		}
	}
	if n := len(names); n > 3 {
		names = append(names[:3], fmt.Sprintf("and %d more", n-3))
	}
	if len(names) > 0 {
		r.Warnings = append(r.Warnings, "without build IDs, inode and time tell that these are the recorded files: "+strings.Join(names, ", "))
	}
}

// Read reads perf.data from a file, or, if it comes in the format of
// perf record -o -, from a stream. Other streams are copied to where they can be
// read at random.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	options := perffile.Options{AllowTruncated: opt.AllowTruncated, Parts: src.Parts, Kallsyms: src.Kallsyms}
	if src.IsStream() && perffile.IsPipe(src.Head) {
		f, err := perffile.NewPipe(src.Reader, options)
		if err != nil {
			return nil, err
		}
		return readFile(src, f, opt)
	}
	at, size, err := src.Random()
	if err != nil {
		return nil, err
	}
	f, err := perffile.New(at, size, options)
	if err != nil {
		return nil, err
	}
	return readFile(src, f, opt)
}

// countsSwitches reports whether an event samples each PERF_COUNT_SW_CONTEXT_SWITCHES,
// which the kernel counts where a thread leaves the CPU (linux/perf_event.h).
func countsSwitches(a *perffile.Attr) bool {
	return a.Type == perffile.TypeSoftware && a.Config == 3 && a.FixedPeriod() == 1
}

// complete reports whether each occurrence of an event is a sample. Clocks and counters of the
// hardware cannot be that fast.
func complete(a *perffile.Attr) bool {
	return a.FixedPeriod() == 1 && (a.Type == perffile.TypeTracepoint || a.Type == perffile.TypeSoftware && eventUnit(a) != "nanoseconds")
}

// Recognise tells a perf.data file by its magic number.
func Recognise(head input.Head) input.Evidence {
	return input.Evidence{Is: perffile.IsPerfData(head)}
}
