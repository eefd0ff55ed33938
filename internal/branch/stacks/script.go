package stacks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfscript"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
	"profdiff/internal/verdict"
)

// ReadScript reads what perf script prints with the field brstack, in any choice of
// fields that has it, one stack a line:
//
//	comm pid/tid time: period event: ip … FROM/TO/M/-/-/cycles/type/spec …
//
// Behind FROM and TO may stand the file in brackets (-F +dso). The fourth field is M
// if the branch was mispredicted, P if it was predicted, - if that is not known, each
// with N behind it if the branch was not taken. Lines of --show-mmap-events tell which
// files the addresses are in; comments of --header which CPU and events it was. Must
// match process_event and perf_sample__fprintf_brstack in
// tools/perf/builtin-script.c.
func ReadScript(name string, r io.ReaderAt, size int64, opt *branch.Options) (*branch.Table, error) {
	s := newScript(opt)
	spaces := perfsession.NewSpaces()
	names := opt.Symbols(objects.Recording{})
	s.c = New(&spaces, code.New(names.Objects))
	defer s.c.binaries.Close()
	// Whether there are branches that were not taken decides how the others count, and
	// the usual weight which samples count.
	err := eachLine(r, size, func(line []byte) error {
		s.idle = s.idle || perfscript.HasNotTaken(line)
		s.weigh(line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := eachLine(r, size, s.line); err != nil {
		return nil, err
	}
	s.end()
	if err := s.c.Check(opt, s.names, "print them with perf script -F +brstack, addresses as numbers"); err != nil {
		return nil, err
	}
	t := &branch.Table{Name: name, Format: "perf script", Tool: s.tool, Arch: s.arch, CPU: s.cpu}
	t.Recorded = verdict.Moment{Start: s.clock.Start(), Clock: uint64(s.clock.First), Host: s.clock.Host}
	s.c.Finish(t, opt, symbolizer.New(names), s.cpuid)
	return t, nil
}

func newScript(opt *branch.Options) *script {
	return &script{opt: opt, events: make(map[string]int), periods: make(map[string]uint64), some: make(map[string]bool), processes: make(map[int32]bool), weights: make(map[string][]uint64), intern: make(map[string]string)}
}

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

// eachLine calls fn for every line, without white space at its end.
func eachLine(r io.ReaderAt, size int64, fn func([]byte) error) error {
	lines := bufio.NewScanner(io.NewSectionReader(r, 0, size))
	lines.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		if err := fn(bytes.TrimRight(lines.Bytes(), " \t\r")); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: longer than %d bytes", n+1, maxLine)
	}
	return err
}

type script struct {
	opt *branch.Options
	c   *Collector
	// idle is set if there are entries of branches that were not taken: samples are of
	// single branches then.
	idle bool

	intern                 map[string]string // names of events
	events                 map[string]int
	names                  []string          // of all events
	periods                map[string]uint64 // fixed ones, by the name in the comments
	weights                map[string][]uint64
	some                   map[string]bool // events that record branches of some kinds only
	tool, arch, cpu, cpuid string
	clock                  perfscript.Clock

	processes map[int32]bool // that have mappings

	open   bool // a sample has started
	header scriptHeader
	stack  stack
}

// scriptHeader is what the line of a sample says before its stack.
type scriptHeader struct {
	event  string
	period uint64
	pid    int32
	named  bool // there is an event
}

func (s *script) line(line []byte) error {
	switch {
	case len(line) == 0:
		s.end()
		return nil
	case line[0] == '#':
		s.comment(line)
		return nil
	}
	if record := perfscript.FindRecord(line); record != nil {
		s.end()
		return s.record(record)
	}
	at := perfscript.FirstBranch(line)
	if line[0] != '\t' && at != 0 {
		if h, ok := s.parseHeader(line[:at]); ok {
			s.end()
			s.open, s.header = true, h
		}
	}
	if at == len(line) {
		return nil
	}
	if s.open && len(s.stack.entries) > 0 { // one stack a line: there was no header
		s.end()
	}
	s.open = true
	for rest := line[at:]; len(rest) > 0; {
		b, n, err := perfscript.ParseBranch(rest)
		if err != nil {
			return err
		}
		s.stack.entries = append(s.stack.entries, entryOf(&b))
		rest = bytes.TrimLeft(rest[n:], " \t")
		if len(rest) > 0 && !bytes.HasPrefix(rest, []byte("0x")) {
			return nil // other fields follow
		}
	}
	return nil
}

// parseHeader reads what stands before the stack. ok is false if that is not the line
// of a sample.
func (s *script) parseHeader(text []byte) (scriptHeader, bool) {
	h, ok := perfscript.ParseHeader(text)
	if !ok {
		return scriptHeader{}, false
	}
	s.clock.Sample(&h)
	event, known := s.intern[string(h.Event)]
	if !known {
		event = input.Text(h.Event)
		s.intern[event] = event
	}
	return scriptHeader{event: event, named: h.Event != nil, pid: int32(h.PID), period: uint64(h.Period)}, true
}

// entryOf is a branch of the text as an entry of a stack.
func entryOf(b *perfscript.Branch) entry {
	return entry{
		from: b.From, to: b.To, mispredicted: b.Mispredicted, predicted: b.Predicted, notTaken: b.NotTaken,
		wrongPath: b.WrongPath, cycles: b.Cycles, kind: scriptKind(b.Type),
	}
}

// scriptKind turns the name of a type into a kind.
func scriptKind(name string) branch.Kind {
	switch name {
	case "COND", "COND_CALL", "COND_RET":
		return branch.Conditional
	case "UNCOND":
		return branch.Direct
	case "IND", "IND_CALL":
		return branch.Indirect
	case "CALL":
		return branch.Call
	case "RET":
		return branch.Return
	case "SYSCALL", "SYSRET", "ERET", "IRQ", "SERROR", "NO_TX":
		return branch.Transfer
	}
	return branch.UnknownKind
}

// weigh notes the weight of the sample that starts in a line.
func (s *script) weigh(line []byte) {
	if len(line) == 0 || line[0] == '#' || line[0] == '\t' || perfscript.FindRecord(line) != nil {
		return
	}
	if at := perfscript.FirstBranch(line); at != 0 {
		if h, ok := s.parseHeader(line[:at]); ok && h.named && h.period > 0 {
			s.weights[h.event] = append(s.weights[h.event], h.period)
		}
	}
}

// end adds the current sample.
func (s *script) end() {
	if !s.open {
		return
	}
	s.open = false
	st, h := &s.stack, &s.header
	if h.named && !slices.Contains(s.names, h.event) {
		s.names = append(s.names, h.event)
	}
	if h.named && !s.opt.Wanted(h.event) {
		s.c.LeaveOut(branch.DropEvent)
	} else {
		st.event = s.event(h.event)
		st.pid = h.pid
		if h.pid < 0 {
			st.pid = s.onlyProcess()
		}
		switch e := s.c.events[st.event]; {
		case h.period > 0:
			st.weight = float64(h.period)
		case e.Period > 0:
			st.weight = float64(e.Period)
		default:
			st.weight = 1
			e.weightless = true
		}
		s.c.add(st)
	}
	st.entries = st.entries[:0]
	s.header = scriptHeader{pid: -1}
}

// event returns the number of an event. The first sample decides what is known of it.
func (s *script) event(name string) int {
	i, ok := s.events[name]
	if !ok {
		base, modifiers, _ := strings.Cut(name, ":")
		if j := strings.LastIndexByte(name, ':'); j >= 0 {
			modifiers = name[j+1:]
		}
		e := branch.Event{Name: name, Period: s.periods[name], Counts: s.counts(name)}
		// p is precise, beside modifiers of one letter.
		e.Precise = base != "" && strings.Contains(modifiers, "p") && strings.Trim(modifiers, "ukhGHpPSDWeb") == ""
		if name == "" {
			e.Name = "unknown"
		}
		i = s.c.event(e, !s.some[name])
		if e.Period == 0 {
			s.c.events[i].least = float64(estimate.Settled(s.weights[name]))
		}
		if s.idle {
			s.c.events[i].first, s.c.events[i].single = 0, true
		}
		s.events[name] = i
		if trace := traced(perffile.TracePMU(name)); trace != "" {
			s.c.Unknown = trace
		}
	}
	return i
}

// counts tells what an event counts, by its name or the number in it: r00c4.
func (s *script) counts(name string) branch.Counts {
	base, _, _ := strings.Cut(name, ":")
	a := perffile.Attr{Name: name, Type: perffile.TypeBreakpoint}
	if digits, ok := strings.CutPrefix(base, "r"); ok {
		if n, err := strconv.ParseUint(digits, 16, 64); err == nil {
			a.Type, a.Config = perffile.TypeRaw, n
		}
	}
	return events.CountsOf(&a, &perffile.Info{CPUID: s.cpuid, Arch: s.arch})
}

// onlyProcess is the process of samples that do not name theirs, if there is but one.
func (s *script) onlyProcess() int32 {
	if len(s.processes) == 1 {
		for pid := range s.processes {
			return pid
		}
	}
	return -1
}

// comment reads a line "# key : value" of --header.
func (s *script) comment(line []byte) {
	key, value, ok := perfscript.ParseComment(line)
	if !ok {
		return
	}
	s.clock.Comment(key, value)
	switch key {
	case "perf version":
		s.tool = "perf " + value
	case "arch":
		s.arch = value
	case "cpudesc":
		s.cpu = value
	case "cpuid":
		s.cpuid = value
	case "cmdline":
		if from := injected(strings.Fields(value)); from != "" {
			s.c.Unknown = from
		}
	case "event":
		if e, ok := perfscript.ParseEventDesc(value); ok {
			s.periods[e.Name] = e.Period
			s.some[e.Name] = e.BranchTypes != nil && !slices.Contains(e.BranchTypes, "ANY")
		}
	}
}

// record takes over a record that is no sample.
func (s *script) record(text []byte) error {
	r, err := perfscript.ParseRecord(text)
	switch {
	case err != nil:
		return err
	case r.Mapping != nil:
		s.add(r.Mapping)
	case r.Fork != nil:
		s.fork(r.Fork[0], r.Fork[1])
	}
	s.c.samples.Lost += r.Lost
	return nil
}

func (s *script) add(m *perfscript.Mapping) {
	if m.Len == 0 {
		return
	}
	if !m.Kernel {
		s.processes[m.PID] = true
	}
	s.c.spaces.Map(perfsession.Mapping{Start: m.Start, End: m.Start + m.Len, PgOff: m.PgOff, PID: m.PID, DSO: s.c.spaces.DSO(m.Path, m.BuildID, m.Kernel)})
}

// fork starts a process with what its parent has mapped.
func (s *script) fork(parent, pid int32) {
	if parent == pid {
		return
	}
	s.c.spaces.Fork(parent, pid)
	if delete(s.processes, pid); s.processes[parent] {
		s.processes[pid] = true
	}
}
