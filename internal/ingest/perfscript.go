package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfscript"
	"profdiff/internal/run"
)

// readPerfScript reads what perf script prints, with any choice of fields (-F) that
// tells samples apart, and simpleperf's report_sample.py, which prints the same.
//
// A sample is a line
//
//	comm  pid/tid [cpu] misc time: period event: other fields
//
// and then either its call chain, a line TAB address symbol+offset (dso) for each
// frame and an empty line, or one frame at the end of the line. Fields are told apart
// by form: those that are missing are missing in all lines. A single number before
// the time is a thread. Must match process_event in tools/perf/builtin-script.c and
// sample__fprintf_callchain in tools/perf/util/evsel_fprintf.c of Linux.
func readPerfScript(src *input.Source, opt *reading.Options) (*run.Run, error) {
	s := newPerfScript(src, opt)
	for {
		line, ok := s.text.Next()
		if !ok {
			break
		}
		s.line(line)
	}
	if s.text.Err() != nil {
		return nil, s.text.Err()
	}
	return s.finish()
}

type perfScript struct {
	b     *run.Builder
	opt   *reading.Options
	text  *input.Lines
	files reading.Files
	tally *reading.Tally
	facts scriptFacts
	// events and comms intern what lines say.
	events map[string]uint32
	comms  map[string]string
	// frames holds the texts of frames, and lines finds those again that are one line.
	frames map[string]*scriptFrame
	lines  frameLines

	sample scriptSample
	// oneLine is set once a sample had its frame at the end of its line.
	oneLine bool
	// headers is set once a sample had a line of its own before its frames.
	headers bool
	// stacks is set once a line had a branch stack.
	stacks bool
	// nameOnly is a line without any field but perhaps the name of a thread, which
	// starts a sample if a frame follows.
	nameOnly string
	isName   bool

	samples, unknownLines, firstUnknown int64
	noPeriod, noEvent                   bool
}

// A scriptFrame is a frame of the text: see scriptSample.frame.
type scriptFrame struct {
	line     string
	lead     int
	location uint32
}

// frameLines finds frames by the line that they are, which most lines of a text are: a comparison rather than
// all that makes a frame. It forgets: perfScript.frames has what it does not.
type frameLines []*scriptFrame

// frameLinesBits is the logarithm of how many frames are known, 128 KB.
const frameLinesBits = 14

// at is the only entry where the frame of a line may be, nil for short lines. A line starts with TAB and an
// address in 16 columns, which tell nearly all apart.
func (l frameLines) at(line []byte) **scriptFrame {
	if len(line) < 17 {
		return nil
	}
	high, low := binary.LittleEndian.Uint64(line[1:]), binary.LittleEndian.Uint64(line[9:])
	hash := (high*0x9e3779b97f4a7c15 ^ low*0xc2b2ae3d27d4eb4f) * 0x165667b19e3779f9
	return &l[hash>>(64-frameLinesBits)]
}

// find returns the frame that is this line, nil if it is not known.
func (l frameLines) find(line []byte) *scriptFrame {
	if at := l.at(line); at != nil && *at != nil && (*at).line == string(line) {
		return *at
	}
	return nil
}

// add takes the place of the frame that was there.
func (l frameLines) add(line []byte, f *scriptFrame) {
	if at := l.at(line); at != nil {
		*at = f
	}
}

// scriptSample is the sample that is being read.
type scriptSample struct {
	open   bool
	thread reading.Thread
	event  uint32
	// weight is the period, or -1 if there is none.
	weight int64
	time   int64 // nanoseconds, 0 if the text has none
	// stack holds the locations of complete frames, leaf first.
	stack []uint32
	// frame holds the lines of the current frame: functions inlined there, the
	// function itself, and their source lines. The space before the first line, of which lead
	// is the length, is no part of it.
	frame  []byte
	lead   int
	line   bool // frame is a line below the sample
	closed bool // the function itself is in frame
	// last is the frame on top of stack, if its line was found in perfScript.lines: it is
	// another one if its place in the source follows.
	last   *scriptFrame
	inline bool // the frame stood in the line of the sample
	skip   bool // other fields follow until the sample ends
}

func newPerfScript(src *input.Source, opt *reading.Options) *perfScript {
	s := &perfScript{
		b: run.NewBuilder(src.Name), opt: opt, text: src.Lines(), tally: reading.NewTally(),
		events: make(map[string]uint32), comms: make(map[string]string), frames: make(map[string]*scriptFrame),
		lines: make(frameLines, 1<<frameLinesBits),
	}
	s.files, s.tally.Timed = reading.NewFiles(s.b), opt.Timeline
	return s
}

// line reads one line.
func (s *perfScript) line(line []byte) {
	name, isName := s.nameOnly, s.isName
	s.nameOnly, s.isName = "", false
	if end := len(line) - 1; end >= 0 && (line[end] == ' ' || line[end] == '\t') {
		line = bytes.TrimRight(line, " \t")
	}
	if isName && (len(line) == 0 || line[0] != '\t') {
		s.unknown(s.text.Number() - 1)
	}
	switch {
	case len(line) == 0:
		s.end()
		return
	case line[0] == '#' && (len(line) == 1 || line[1] == ' '):
		s.facts.comment(line)
		return
	case line[0] == '\t':
		if isName {
			h := perfscript.NoHeader
			h.Comm = []byte(name)
			s.begin(&h)
		}
		s.indented(line)
		return
	}
	if at := perfscript.StackStart(line); at < len(line) {
		s.stacks = true
		if line = bytes.TrimRight(line[:at], " \t"); len(line) == 0 {
			return
		}
	}
	h, ok := perfscript.ParseHeader(line)
	chain := line[0] == ' ' && s.sample.open && !s.sample.inline
	switch {
	case ok && (h.Strong() || !chain):
		s.header(line, &h)
	case chain && s.addFrame(line):
	case ok:
		s.header(line, &h)
	case bytes.Contains(line, []byte("PERF_RECORD_")):
		s.record(line)
	case !chain && perfscript.InlineFrame(line, 0) >= 0:
		// -F comm,ip,sym,dso or less, without call chains.
		h := perfscript.NoHeader
		at := perfscript.InlineFrame(line, 0)
		h.Comm = bytes.TrimSpace(line[:at])
		s.begin(&h)
		s.inline(line[at:])
	case line[0] == ' ' && s.sample.open:
		s.sourceLine(line)
	case line[0] != ' ' && !s.oneLine:
		s.end()
		s.nameOnly, s.isName = string(line), true
	default:
		s.end()
		s.unknown(s.text.Number())
	}
}

// unknown counts a line that is none of perf script.
func (s *perfScript) unknown(line int) {
	if s.unknownLines == 0 {
		s.firstUnknown = int64(line)
	}
	s.unknownLines++
}

// header reads the line that starts a sample, or tells of another record.
func (s *perfScript) header(line []byte, h *perfscript.Header) {
	if i := bytes.Index(line, []byte("PERF_RECORD_")); i >= 0 && (i == h.Rest || bytes.HasPrefix(h.Event, line[i:i+len("PERF_RECORD_")])) {
		s.record(line[i:])
		return
	}
	s.headers = true
	s.begin(h)
	if at := perfscript.InlineFrame(line, h.Rest); at >= 0 {
		s.inline(line[at:])
	}
}

// inline takes the frame that stands in the line of the sample.
func (s *perfScript) inline(frame []byte) {
	s.addFrame(perfscript.CutBranches(frame))
	s.sample.inline, s.oneLine = true, true
}

// record reads the line of a record that is no sample.
func (s *perfScript) record(line []byte) {
	s.end()
	// Mappings are not needed: frames have their files.
	if r, err := perfscript.ParseRecord(perfscript.FindRecord(line)); err == nil {
		s.b.Run().Accounting.Lost += r.Lost
	}
}

// begin starts a sample.
func (s *perfScript) begin(h *perfscript.Header) {
	s.end()
	comm, ok := s.comms[string(h.Comm)]
	if !ok {
		comm = input.Text(h.Comm)
		s.comms[string(h.Comm)] = comm
	}
	event, ok := s.events[string(h.Event)]
	if !ok {
		event = s.newEvent(h)
		s.events[string(h.Event)] = event
	}
	sm := &s.sample
	*sm = scriptSample{
		open: true, event: event, weight: -1, time: h.Time,
		thread: reading.Thread{Comm: comm, PID: h.PID, TID: h.TID, CPU: -1},
		stack:  sm.stack[:0], frame: sm.frame[:0],
	}
	if s.opt.CPU {
		sm.thread.CPU = h.CPU
	}
	if h.HasPeriod {
		sm.weight = h.Period
	}
	if h.Overflow != nil {
		s.text.Fail("period %w", h.Overflow)
	}
	s.facts.clock.Sample(h)
}

// newEvent adds an event. What samples weigh is known from the period of each, or,
// if it was fixed, from the comments of --header.
func (s *perfScript) newEvent(h *perfscript.Header) uint32 {
	e := run.Event{Name: input.Text(h.Event)}
	if h.Event == nil {
		s.noEvent = true
		e.Name, e.Unit = "samples", "count"
		if h.HasPeriod {
			e.Name = "events"
		}
		return s.b.Event(e)
	}
	known := s.facts.events[e.Name]
	e.Period, e.Frequency = known.Period, known.Frequency
	if !h.HasPeriod && known.Period == 0 {
		e.Unit = "count"
	}
	return s.b.Event(e)
}

// indented reads a line that starts with TAB.
func (s *perfScript) indented(line []byte) {
	if !s.sample.open {
		if _, ok := perfscript.ParseFrame(line); s.headers || !ok {
			s.unknown(s.text.Number())
			return
		}
		h := perfscript.NoHeader // -F ip,sym,dso
		s.begin(&h)
	}
	s.addFrame(line)
}

// addFrame adds a line to the call chain. It returns false for other lines.
func (s *perfScript) addFrame(line []byte) bool {
	sm := &s.sample
	if sm.skip || sm.inline {
		return false
	}
	begins := sm.closed || len(sm.frame) == 0
	if begins && line[0] == '\t' {
		if f := s.lines.find(line); f != nil {
			s.endFrame()
			s.push(f)
			sm.last = f
			return true
		}
	}
	inlined, ok := perfscript.IsFrame(line)
	if !ok {
		sm.skip = line[0] == '\t'
		return false
	}
	at := 0
	for line[at] == ' ' || line[at] == '\t' { // before the address, which IsFrame found
		at++
	}
	if begins {
		s.endFrame()
		sm.frame, sm.lead, sm.line = append(sm.frame, line...), at, !inlined && line[0] == '\t'
	} else {
		sm.frame = append(append(sm.frame, '\n'), line[at:]...)
	}
	sm.closed, sm.last = !inlined, nil
	return true
}

// sourceLine adds the place in the source of the last function.
func (s *perfScript) sourceLine(line []byte) {
	file, _ := perfscript.ParseSourceLine(line)
	if file == nil {
		return
	}
	sm := &s.sample
	if f := sm.last; f != nil { // which is not as it was before, without a place in the source
		if f.location != reading.NoLocation {
			sm.stack = sm.stack[:len(sm.stack)-1]
		}
		sm.frame, sm.lead, sm.closed, sm.last = append(sm.frame, f.line...), f.lead, true, nil
	}
	if len(sm.frame) > 0 {
		sm.frame, sm.line = append(append(sm.frame, '\n'), line...), false
	}
}

// endFrame turns the lines of a frame into a location.
func (s *perfScript) endFrame() {
	sm := &s.sample
	if len(sm.frame) == 0 {
		return
	}
	f, ok := s.frames[string(sm.frame[sm.lead:])]
	if !ok {
		f = &scriptFrame{line: string(sm.frame), lead: sm.lead, location: s.location(sm.frame[sm.lead:])}
		s.frames[f.line[f.lead:]] = f
	}
	s.push(f)
	if sm.line {
		s.lines.add(sm.frame, f)
	}
	sm.frame, sm.closed = sm.frame[:0], false
}

// push adds a frame to the stack.
func (s *perfScript) push(f *scriptFrame) {
	if f.location != reading.NoLocation {
		s.sample.stack = append(s.sample.stack, f.location)
	}
}

// location makes the location of a frame from its lines.
func (s *perfScript) location(lines []byte) uint32 {
	var out []run.Line
	var addr uint64
	var mapping uint32
	var known, sources bool
	var last perfscript.Frame
	for line := range bytes.Lines(lines) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if f, ok := perfscript.ParseFrame(line); ok && (len(out) == 0 || line[0] != ' ') {
			addr, last = f.Addr, f
			symbol, dso := input.Text(f.Symbol), input.Text(f.DSO)
			file, offset, unknown := reading.UnknownSymbol(symbol)
			if dso == "" {
				dso = file
			}
			if file == "" || offset == 0 {
				offset = f.Addr
			}
			mapping = s.files.Mapping(dso)
			fn := run.Function{Name: symbol}
			if unknown {
				fn = reading.UnknownFunction(dso, offset, s.opt)
			}
			known = known || !unknown
			out = append(out, run.Line{Function: s.b.Function(fn)})
			continue
		}
		file, n := perfscript.ParseSourceLine(line)
		if file == nil || len(out) == 0 {
			continue
		}
		l := &out[len(out)-1]
		fn := s.b.Run().Functions[l.Function]
		if fn.Unknown {
			continue
		}
		fn.File = input.Text(file)
		l.Function, l.Line = s.b.Function(fn), n
		sources = true
	}
	if len(out) == 1 && addr < 2 && !known && mapping == 0 && !last.Inlined {
		return reading.NoLocation
	}
	s.files.Named(mapping, known, sources, len(out) > 1)
	return s.b.Location(mapping, addr, out...)
}

// end adds the current sample.
func (s *perfScript) end() {
	sm := &s.sample
	if !sm.open {
		return
	}
	sm.open = false
	s.endFrame()
	weight := sm.weight
	if weight < 0 {
		e := &s.b.Run().Events[sm.event]
		switch name, _ := run.SplitEvent(e.Name); {
		case e.Period > 0 && e.Period < math.MaxInt64:
			weight = int64(e.Period)
		case strings.Contains(name, ":"): // a tracepoint, each of which counts
			weight = 1
		default:
			weight = 1
			s.noPeriod = true
		}
	}
	var stack run.StackID
	for i := len(sm.stack) - 1; i >= 0; i-- {
		stack = s.b.Stack(stack, sm.stack[i])
	}
	s.tally.AddAt(sm.time, false, sm.event, stack, s.tally.Thread(sm.thread), weight)
	s.samples++
}

func (s *perfScript) finish() (*run.Run, error) {
	if s.isName {
		s.unknown(s.text.Number())
	}
	s.end()
	if s.stacks && len(s.frames) == 0 {
		return nil, errors.New("holds branch stacks and no frames: read it with profdiff branches, or print frames with perf script -F +ip,sym")
	}
	if s.samples == 0 && s.unknownLines > 0 {
		return nil, fmt.Errorf("line %d: is none of perf script", s.firstUnknown)
	}
	r := s.b.Run()
	s.facts.describe(&r.Recording)
	r.Accounting.In = s.samples
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if s.samples == 0 {
		warn("there are no samples")
	}
	if s.unknownLines > 0 {
		warn("%d lines were not understood, the first is line %d", s.unknownLines, s.firstUnknown)
	}
	if s.noEvent {
		warn("samples do not name their event: print it with perf script -F +event")
	}
	if s.noPeriod {
		warn("samples have no period, each weighs 1: print it with perf script -F +period")
	}
	s.flush()
	return s.b.Finish()
}

// flush adds the sums of samples. Of recordings with simpleperf --trace-offcpu,
// report_sample.py prints as periods of switches how long threads were off the CPU.
func (s *perfScript) flush() {
	r := s.b.Run()
	off, ok := s.events[reading.SwitchEvent]
	if !r.Recording.TraceOffCPU || !ok {
		if r.Recording.TraceOffCPU && s.samples > 0 {
			r.Warnings = append(r.Warnings, "time on and off the CPU may be mixed in one event: make the text with --trace-offcpu on-off-cpu")
		}
		s.tally.Flush(s.b, s.opt, nil)
		return
	}
	r.Events[off].Unit = "nanoseconds"
	offCPU := s.b.Event(run.Event{Name: "off-cpu", Derived: true})
	s.tally.Last(off)
	s.tally.CopyEvent(off, offCPU)
	for i := range r.Events {
		if event := uint32(i); event != off && run.EventUnit(r.Events[i].Name) == "nanoseconds" && !r.Events[i].Derived {
			s.tally.CopyEvent(event, s.b.Event(run.Event{Name: "on-cpu", Derived: true}))
			break
		}
	}
	s.tally.Flush(s.b, s.opt, func(event uint32, th reading.Thread) (uint32, reading.Thread) {
		th.State = "on-cpu"
		if event == off || event == offCPU {
			th.State = "off-cpu"
		}
		return event, th
	})
}
