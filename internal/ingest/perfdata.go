package ingest

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// perfData turns a perf.data file into a Run: a perfsession.Handler that interns
// the stacks of samples while they are replayed, and names their addresses
// afterwards, each once.
type perfData struct {
	opt     *Options
	file    *perffile.File
	session *perfsession.Session
	z       *symbolizer.Symbolizer
	b       *run.Builder

	events   []uint32 // in the run, by index in File.Attrs
	counters []uint32 // likewise, of events that were only counted along; 0 is none, else +1
	onCPU    uint32
	offCPU   uint32
	traceOff bool

	segments   []segment
	segmentOf  []uint32 // by perfsession.Mapping.ID, +1
	segmentIDs map[segmentKey]uint32
	places     []place // by location of the run
	placeTable placeTable
	dsosSeen   int // of session.DSOs, by noteJITDumps
	labels     map[labelsKey]uint32
	blocked    map[int32]blocked // by thread
	recent     [256][]step       // latest stacks, by the low bits of the thread's id
}

// A step is a frame of a stack and the stack up to it.
type step struct {
	frame perfsession.Frame
	stack run.StackID
}

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

	placeFlagBits = 3
)

func (pl place) seg() uint32          { return pl.segment >> placeFlagBits }
func (pl place) has(flag uint32) bool { return pl.segment&flag != 0 }

type labelsKey struct {
	process, thread perfsession.NameID
	pid, tid        int32
	cpu             int32
	mode            perffile.Misc
	offCPU          bool
}

// blocked is a thread that left the CPU.
type blocked struct {
	stack  run.StackID
	labels uint32
	time   uint64
}

func readPerfData(name string, f *perffile.File, opt *Options) (*run.Run, error) {
	p := &perfData{
		opt: opt, file: f, session: perfsession.New(f), b: run.NewBuilder(name),
		segments:   make([]segment, 1),
		segmentIDs: make(map[segmentKey]uint32),
		labels:     make(map[labelsKey]uint32),
		blocked:    make(map[int32]blocked),
	}
	if err := p.prepareSymbols(); err != nil {
		return nil, err
	}
	if err := p.session.Replay(p); err != nil {
		return nil, err
	}
	p.placeTable = placeTable{}
	p.addEvents()
	p.account()
	p.describe()
	p.symbolize()
	return p.b.Finish()
}

// addEvents adds the events that have become known, also those without samples, so
// that two recordings of one command have the same events.
func (p *perfData) addEvents() {
	for i := len(p.events); i < len(p.file.Attrs); i++ {
		a := &p.file.Attrs[i]
		p.events = append(p.events, noEvent)
		p.counters = append(p.counters, noEvent)
		const clockMonotonic = 1
		p.z.Monotonic = a.Flags.Has(perffile.FlagUseClockID) && a.ClockID == clockMonotonic
		const dummy = 9 // PERF_COUNT_SW_DUMMY, opened for its side-band records
		if a.Type == perffile.TypeSoftware && a.Config == dummy {
			continue
		}
		p.addEvent(i)
	}
	if !p.traceOff && p.file.Info.MetaInfo["trace_offcpu"] == "true" {
		p.traceOff = true
		p.onCPU, p.offCPU = noEvent, p.b.Event(run.Event{Name: "off-cpu", Derived: true})
		if len(p.file.Attrs) > 0 && run.EventUnit(p.file.Attrs[0].Name) == "nanoseconds" {
			p.onCPU = p.b.Event(run.Event{Name: "on-cpu", Derived: true})
		}
	}
}

const noEvent = 1<<32 - 1

func (p *perfData) addEvent(i int) uint32 {
	a := &p.file.Attrs[i]
	p.events[i] = p.b.Event(run.Event{Name: a.Name, Period: a.FixedPeriod(), Frequency: a.Frequency()})
	return p.events[i]
}

// Sample adds one sample.
func (p *perfData) Sample(s *perfsession.Sample) error {
	if len(p.events) < len(p.file.Attrs) {
		p.addEvents()
	}
	event := p.events[s.Event]
	if event == noEvent {
		event = p.addEvent(s.Event)
	}
	stack := p.stack(s)
	if m := s.Frames[0].Map; m != nil {
		p.segments[p.segmentOf[m.ID]-1].count++
	}
	offCPU := p.traceOff && s.Event > 0
	labels := p.labelsOf(s, offCPU)
	account := &p.b.Run().Accounting
	if s.Incomplete {
		account.TruncatedStacks++
	}
	switch {
	case p.traceOff:
		p.wake(s.Raw.TID, s.Raw.Time)
		if offCPU {
			p.blocked[s.Raw.TID] = blocked{stack, labels, s.Raw.Time}
		} else if p.onCPU != noEvent {
			p.b.Add(p.onCPU, stack, labels, s.Weight)
		}
	case len(s.Counters) > 0:
		if p.groupSampling() {
			return p.addGroup(s, stack, labels)
		}
		for _, c := range s.Counters {
			if c.Event != s.Event {
				p.b.Add(p.counter(c.Event), stack, labels, int64(min(c.Delta, 1<<62)))
			}
		}
	}
	p.b.Add(event, stack, labels, s.Weight)
	return nil
}

// stack returns the stack of a sample. The callers are mostly those of the thread's
// previous sample, so that only what differs is looked up.
func (p *perfData) stack(s *perfsession.Sample) run.StackID {
	recent := &p.recent[uint32(s.Raw.TID)%uint32(len(p.recent))]
	path := *recent
	var stack run.StackID
	i, n := 0, len(s.Frames)
	p.noteJITDumps()
	jitDumps := p.z.HasJITDumps()
	for !jitDumps && i < n && i < len(path) && path[i].frame == s.Frames[n-1-i] {
		stack = path[i].stack
		i++
	}
	path = path[:i]
	for ; i < n; i++ {
		f := &s.Frames[n-1-i]
		pl := p.place(f)
		if jitDumps && f.Map != nil && !isFile(f.Map.DSO.Path) {
			pl.jit = p.z.JITFunction(s.Raw.PID, s.Raw.Time, f.Addr)
		}
		if callee, loc, ok := p.b.FirstCallee(stack); ok && p.places[loc] == pl {
			stack = callee
		} else {
			stack = p.b.Stack(stack, p.location(pl))
		}
		path = append(path, step{*f, stack})
	}
	*recent = path
	return stack
}

// noteJITDumps tells the symbolizer of the files that have been mapped.
func (p *perfData) noteJITDumps() {
	for ; p.dsosSeen < len(p.session.DSOs); p.dsosSeen++ {
		p.z.AddJITDump(p.session.DSOs[p.dsosSeen].Path)
	}
}

// groupSampling reports whether samples stand for all events of their group, as perf
// record -e '{a,b}:S' makes them: the members do not sample. simpleperf --add-counter
// does the same, but its reports keep to the event that sampled.
func (p *perfData) groupSampling() bool {
	return !p.file.Info.Simpleperf()
}

// addGroup adds one sample for each event of the group, weighing what it counted
// since the last: must match evlist__deliver_sample in tools/perf/util/session.c.
func (p *perfData) addGroup(s *perfsession.Sample, stack run.StackID, labels uint32) error {
	account := &p.b.Run().Accounting
	for i, c := range s.Counters {
		event := p.events[c.Event]
		if event == noEvent {
			event = p.addEvent(c.Event)
		}
		if i > 0 {
			account.In++
		}
		if c.Delta >= 1<<63 {
			account.Drop("weight over 2^63", 1)
			continue
		}
		p.b.Add(event, stack, labels, int64(c.Delta))
	}
	return nil
}

// counter returns the derived event for what was counted at samples of another.
func (p *perfData) counter(event int) uint32 {
	if p.counters[event] == noEvent {
		name := p.file.Attrs[event].Name
		p.counters[event] = p.b.Event(run.Event{Name: "counted:" + name, Unit: run.EventUnit(name), Derived: true})
	}
	return p.counters[event]
}

// wake ends the time that a thread was off the CPU: at its next sample, or when a
// CPU goes to it. Must match ReportLib::ProcessSampleRecord in
// simpleperf/report_lib_interface.cpp.
func (p *perfData) wake(tid int32, now uint64) {
	b, ok := p.blocked[tid]
	if !ok {
		return
	}
	delete(p.blocked, tid)
	off := int64(1)
	if b.time < now {
		off = int64(now - b.time)
	}
	p.b.Add(p.offCPU, b.stack, b.labels, off)
}

// Switch ends the time that a thread was off the CPU.
func (p *perfData) Switch(s perfsession.Switch) error {
	if p.traceOff && !s.Out {
		p.wake(s.TID, s.Time)
	}
	return nil
}

func (p *perfData) labelsOf(s *perfsession.Sample, offCPU bool) uint32 {
	key := labelsKey{process: s.Thread.Process.Comm, thread: s.Thread.Comm, pid: -1, tid: -1, cpu: -1, offCPU: offCPU}
	if p.opt.PID {
		key.pid = s.Raw.PID
	}
	if p.opt.TID {
		key.tid = s.Raw.TID
	}
	if p.opt.CPU && p.file.Attrs[s.Event].SampleType.Has(perffile.SampleCPU) {
		key.cpu = int32(s.Raw.CPU)
	}
	if p.opt.Mode {
		key.mode = s.Raw.Misc.CPUMode()
	}
	if i, ok := p.labels[key]; ok {
		return i
	}
	l := run.Labels{
		Process: p.session.Name(key.process), Thread: p.session.Name(key.thread),
		PID: int64(key.pid), TID: int64(key.tid), CPU: int64(key.cpu),
	}
	switch {
	case offCPU:
		l.State = "off-cpu"
	case p.traceOff:
		l.State = "on-cpu"
	}
	switch key.mode {
	case perffile.CPUModeKernel:
		l.Mode = "Host Kernel"
	case perffile.CPUModeUser:
		l.Mode = "Host User"
	case perffile.CPUModeHypervisor:
		l.Mode = "Hypervisor"
	case perffile.CPUModeGuestKernel:
		l.Mode = "Guest Kernel"
	case perffile.CPUModeGuestUser:
		l.Mode = "Guest User"
	}
	i := p.b.Labels(l)
	p.labels[key] = i
	return i
}

// place says what the address of a frame is relative to.
func (p *perfData) place(f *perfsession.Frame) place {
	pl := place{rel: f.Addr}
	if m := f.Map; m != nil {
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
	} else {
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

// location returns the location of a place in the run: its index in places.
func (p *perfData) location(pl place) uint32 {
	return p.placeTable.intern(&p.places, pl)
}

// segment returns the segment of a mapping.
func (p *perfData) segment(m *perfsession.Mapping) uint32 {
	key := segmentKey{dso: m.DSO.ID, pgOff: m.PgOff, size: m.End - m.Start, kernel: m.DSO.Kernel}
	key.jitSymbolMap = m.Prot&perfsession.ProtJITSymFile != 0
	if m.DSO.Kernel || key.jitSymbolMap || !isFile(m.DSO.Path) {
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

// isFile reports whether a DSO's addresses mean the same in all processes.
func isFile(path string) bool {
	if path == perfsession.AnonPath {
		return false
	}
	return !strings.HasPrefix(path, "[") || path == "[vdso]" || path == "[vsyscall]" || path == "[vectors]"
}

// account sets what became of the samples.
func (p *perfData) account() {
	s := &p.session.Stats
	a := &p.b.Run().Accounting
	a.In += s.Samples
	a.Drop("unknown event", s.UnknownEvent)
	a.Drop("weight over 2^63", s.BadPeriod)
	a.Lost = s.LostSamples()
	a.Throttled = s.Throttled
	r := p.b.Run()
	for event, n := range s.Lost {
		if event >= 0 && p.events[event] != noEvent {
			r.Events[p.events[event]].Lost += n
		}
	}
	if s.Late > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d records were out of order by more than a round: names of threads and mappings near them may be wrong", s.Late))
	}
	if n := len(p.blocked); n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d threads were off the CPU at the end: that time is not counted", n))
	}
	if t := p.file.Stats.Truncated; t != nil {
		r.Warnings = append(r.Warnings, "recording is incomplete: "+t.Error())
	}
	switch share := float64(a.TruncatedStacks) / float64(max(a.In, 1)); {
	case s.RawStacks > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d samples hold their user stack as memory (--call-graph dwarf), which is not unwound: user callers are missing", s.RawStacks))
	case share > 0.01:
		r.Warnings = append(r.Warnings, fmt.Sprintf("%.1f%% of the call chains are incomplete", 100*share))
	}
	if s.AuxTruncated > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d times the hardware trace was cut off because its buffer was full", s.AuxTruncated))
	}
}

// describe takes over the facts of the recording.
func (p *perfData) describe() {
	info := &p.file.Info
	r := &p.b.Run().Recording
	*r = run.Recording{
		Format: "perf.data", CommandLine: quoteArgs(info.Cmdline), Arch: info.Arch, Kernel: info.OSRelease,
		Host: info.Hostname, CPU: info.CPUDesc, CPUID: info.CPUID, CPUs: int(info.CPUsOnline),
		FirstSample: p.session.Stats.First, LastSample: p.session.Stats.Last,
		TraceOffCPU: p.traceOff,
	}
	if info.Version != "" {
		r.Tool = "perf " + info.Version
	}
	if first, last := r.FirstSample, r.LastSample; last > first && last-first < 1<<62 {
		r.Duration = time.Duration(last - first)
	}
	if c := info.Clock; c.Valid {
		r.Start = time.Unix(0, int64(c.WallNanos+(r.FirstSample-c.Nanos))).UTC()
	}
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
	// simpleperf notes the time when recording has ended, in seconds.
	if t, err := strconv.ParseInt(meta["timestamp"], 10, 64); err == nil && t > 0 && t < 1<<33 {
		r.Start = time.Unix(t, 0).Add(-r.Duration).UTC()
	}
}

// quoteArgs joins the arguments of a command as a shell would take them.
func quoteArgs(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`&|;<>()*?[]#~{}!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted[i] = a
	}
	return strings.Join(quoted, " ")
}

// prepareSymbols makes the symbolizer and gives it the symbols of the recording.
func (p *perfData) prepareSymbols() error {
	p.z = symbolizer.New(symbolizer.Options{
		Simpleperf: p.file.Info.Simpleperf(), Symfs: p.opt.Symfs, Kallsyms: p.opt.Kallsyms,
	})
	for f, err := range p.file.SymbolFiles() {
		if err != nil {
			return err
		}
		p.z.AddRecorded(recordedFile(f))
	}
	return nil
}

// symbolize names all places.
func (p *perfData) symbolize() {
	r := p.b.Run()
	if k := p.session.Kallsyms; k != nil && p.opt.Kallsyms == nil {
		if t, err := objfile.ParseKallsyms(bytes.NewReader(k)); err == nil {
			p.z.SetKallsyms(t)
		} else {
			r.Warnings = append(r.Warnings, "kernel symbols of the recording: "+err.Error())
		}
	}
	n := namer{p: p, z: p.z, kernel: p.kernelDSO(), mappings: make(map[mappingKey]uint32), ambiguous: make(map[string]bool)}
	n.name()
	if n.names != nil && !p.opt.ShowARTFrames {
		n.mergeJava()
	}
	if k := len(n.ambiguous); k > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d obfuscated methods have several original names, of which the last in the mapping is shown", k))
	}
	r.Warnings = append(r.Warnings, p.z.Warnings()...)
}

// kernelDSO is the kernel image, also if no mapping shows it.
func (p *perfData) kernelDSO() *perfsession.DSO {
	for _, d := range p.session.DSOs {
		if d.Kernel && d.Path == perfsession.KernelPath {
			return d
		}
	}
	d := &perfsession.DSO{ID: len(p.session.DSOs), Path: perfsession.KernelPath, Kernel: true}
	p.session.DSOs = append(p.session.DSOs, d)
	return d
}

func recordedFile(f *perffile.SymbolFile) *symbolizer.RecordedFile {
	kinds := map[perffile.DSOType]symbolizer.FileKind{
		perffile.DSOKernel: symbolizer.KernelImage, perffile.DSOKernelModule: symbolizer.KernelModule,
		perffile.DSOELF: symbolizer.ELFFile, perffile.DSODex: symbolizer.DEXFile,
		perffile.DSOSymbolMap: symbolizer.SymbolMapFile,
	}
	kind, ok := kinds[f.Type]
	if !ok {
		kind = symbolizer.UnknownFile
	}
	r := &symbolizer.RecordedFile{Path: f.Path, Kind: kind, MinVaddr: f.MinVaddr, Offset: f.OffsetOfMinVaddr, HasOffset: f.HasOffset, DexOffsets: f.DexFileOffsets}
	r.Symbols = make([]symbolizer.RecordedSymbol, len(f.Symbols))
	for i, s := range f.Symbols {
		r.Symbols[i] = symbolizer.RecordedSymbol{Addr: s.Addr, Len: uint64(s.Len), Name: s.Name}
	}
	return r
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

func (t *placeTable) intern(places *[]place, pl place) (index uint32) {
	if len(t.slots) == 0 {
		t.slots = make([]uint32, 1<<12)
	}
	mask := uint64(len(t.slots) - 1)
	i := pl.hash() & mask
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
