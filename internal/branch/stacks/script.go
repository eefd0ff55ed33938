package stacks

import (
	"bufio"
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
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
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
	names := opt.Symbols()
	s.c = New(&spaces, code.New(names.Files))
	defer s.c.binaries.Close()
	// Whether there are branches that were not taken decides how the others count, and
	// the usual weight which samples count.
	err := eachLine(r, size, func(line string) error {
		s.idle = s.idle || hasNotTaken(line)
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
	s.c.Finish(t, opt, symbolizer.New(names), s.cpuid)
	return t, nil
}

func newScript(opt *branch.Options) *script {
	return &script{opt: opt, events: make(map[string]int), periods: make(map[string]uint64), some: make(map[string]bool), processes: make(map[int32]bool), weights: make(map[string][]uint64)}
}

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

// eachLine calls fn for every line, without white space at its end.
func eachLine(r io.ReaderAt, size int64, fn func(string) error) error {
	lines := bufio.NewScanner(io.NewSectionReader(r, 0, size))
	lines.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		if err := fn(strings.TrimRight(lines.Text(), " \t\r")); err != nil {
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

	events                 map[string]int
	names                  []string          // of all events
	periods                map[string]uint64 // fixed ones, by the name in the comments
	weights                map[string][]uint64
	some                   map[string]bool // events that record branches of some kinds only
	tool, arch, cpu, cpuid string

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

func (s *script) line(line string) error {
	switch {
	case line == "":
		s.end()
		return nil
	case line[0] == '#':
		s.comment(line)
		return nil
	}
	if i := strings.Index(line, "PERF_RECORD_"); i >= 0 {
		s.end()
		return s.record(line[i:])
	}
	at := firstEntry(line)
	if line[0] != '\t' && at != 0 {
		if h, ok := parseHeader(line[:at]); ok {
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
	for rest := line[at:]; rest != ""; {
		e, n, err := parseEntry(rest)
		if err != nil {
			return err
		}
		s.stack.entries = append(s.stack.entries, e)
		rest = strings.TrimLeft(rest[n:], " \t")
		if rest != "" && !strings.HasPrefix(rest, "0x") {
			return nil // other fields follow
		}
	}
	return nil
}

// weigh notes the weight of the sample that starts in a line.
func (s *script) weigh(line string) {
	if line == "" || line[0] == '#' || line[0] == '\t' || strings.Contains(line, "PERF_RECORD_") {
		return
	}
	if at := firstEntry(line); at != 0 {
		if h, ok := parseHeader(line[:at]); ok && h.named && h.period > 0 {
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
		if trace := tracer(name); trace != "" {
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
func (s *script) comment(line string) {
	key, value, ok := strings.Cut(strings.TrimLeft(line, "# "), " :")
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	switch strings.TrimSpace(key) {
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
		name, rest, ok := strings.Cut(strings.TrimPrefix(value, "name = "), ", ")
		_, period, has := strings.Cut(rest, "{ sample_period, sample_freq } = ")
		if ok && has && !strings.Contains(rest, ", freq = 1,") {
			period, _, _ = strings.Cut(period, ",")
			if n, err := strconv.ParseUint(period, 10, 63); err == nil {
				s.periods[name] = n
			}
		}
		if _, kinds, has := strings.Cut(rest, "branch_sample_type = "); ok && has {
			kinds, _, _ = strings.Cut(kinds, ",")
			s.some[name] = !slices.Contains(strings.Split(strings.TrimSpace(kinds), "|"), "ANY")
		}
	}
}

// record reads the lines of records that are no samples.
func (s *script) record(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	switch {
	case kind == "PERF_RECORD_MMAP" || kind == "PERF_RECORD_MMAP2":
		m, err := parseMmap(rest)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		s.add(&m)
	case strings.HasPrefix(kind, "PERF_RECORD_FORK("):
		// PERF_RECORD_FORK(pid:tid):(ppid:ptid)
		var pid, tid, ppid, ptid int32
		if n, _ := fmt.Sscanf(kind, "PERF_RECORD_FORK(%d:%d):(%d:%d)", &pid, &tid, &ppid, &ptid); n != 4 {
			return errors.New("PERF_RECORD_FORK: is not (pid:tid):(ppid:ptid)")
		}
		s.fork(ppid, pid)
	case strings.HasPrefix(kind, "PERF_RECORD_LOST"):
		if _, n, ok := strings.Cut(rest, "lost "); ok {
			if v, err := strconv.ParseUint(strings.Fields(n + " 0")[0], 10, 32); err == nil {
				s.c.samples.Lost += int64(v)
			}
		}
	}
	return nil
}

// mapped is a mapping as text has it: of a process, or of the kernel.
type mapped struct {
	pid               int32
	kernel            bool
	start, len, pgoff uint64
	path, buildID     string
}

func (s *script) add(m *mapped) {
	if m.len == 0 {
		return
	}
	if !m.kernel {
		s.processes[m.pid] = true
	}
	s.c.spaces.Map(perfsession.Mapping{Start: m.start, End: m.start + m.len, PgOff: m.pgoff, PID: m.pid, DSO: s.c.spaces.DSO(m.path, m.buildID, m.kernel)})
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

// parseMmap reads "PID/TID: [START(LEN) @ PGOFF …]: PROT FILE".
func parseMmap(text string) (m mapped, err error) {
	bad := func(what string) (mapped, error) {
		return mapped{}, fmt.Errorf("%s in %q", what, branch.Clip(text))
	}
	head, rest, ok := strings.Cut(text, ": [")
	pid, _, okPID := strings.Cut(head, "/")
	n, errPID := strconv.ParseInt(pid, 10, 32)
	if !ok || !okPID || errPID != nil {
		return bad("no process")
	}
	m.pid, m.kernel = int32(n), n == -1
	place, rest, ok := strings.Cut(rest, "]: ")
	start, place, okLen := strings.Cut(place, "(")
	length, place, okOff := strings.Cut(place, ") @ ")
	f := strings.Fields(place)
	if !ok || !okLen || !okOff || len(f) == 0 {
		return bad("no [START(LEN) @ OFFSET]")
	}
	for _, v := range []struct {
		text string
		to   *uint64
	}{{start, &m.start}, {length, &m.len}, {f[0], &m.pgoff}} {
		if *v.to, err = strconv.ParseUint(v.text, 0, 64); err != nil {
			return bad("no number " + strconv.Quote(branch.Clip(v.text)))
		}
	}
	if len(f) > 1 && strings.HasPrefix(f[1], "<") {
		m.buildID = strings.Trim(f[1], "<>")
	}
	_, m.path, _ = strings.Cut(rest, " ") // behind the protection
	return m, nil
}

// parseHeader reads what stands before the stack. ok is false if that is not the line
// of a sample.
func parseHeader(text string) (h scriptHeader, ok bool) {
	h.pid = -1
	fields := strings.Fields(text)
	for i, f := range fields {
		if pid, tid, is := strings.Cut(f, "/"); is && h.pid < 0 {
			p, errP := strconv.ParseInt(pid, 10, 32)
			if _, errT := strconv.ParseInt(tid, 10, 32); errP == nil && errT == nil {
				h.pid, ok = int32(p), true
				continue
			}
		}
		name, is := strings.CutSuffix(f, ":")
		if !is || name == "" {
			continue
		}
		ok = true
		if isTime(name) {
			continue
		}
		h.event, h.named, h.period = name, true, 0
		if i > 0 {
			if p, err := strconv.ParseUint(fields[i-1], 10, 63); err == nil {
				h.period = p
			}
		}
	}
	return h, ok
}

// isTime reports whether text is a time in seconds.
func isTime(text string) bool {
	whole, part, ok := strings.Cut(text, ".")
	return ok && isDigits(whole) && isDigits(part)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
