package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfscript"
	"profdiff/internal/run"
)

// readBpftrace reads the maps that bpftrace prints, those with stacks in their keys:
//
//	@name[
//	    read_zero+124
//	    entry_SYSCALL_64_after_hwframe+118
//	,
//	    __libc_read+13
//	    main+14
//	, comm]: 42
//
// The parts of a key stand in the order of the program, stacks leaf first, one frame a
// line, as get_stack in bpftrace's src/bpftrace.cpp prints them in any of its modes. Each
// map is an event.
//
//  1. Entries are kept, since a part of the key holds kernel stacks if one of them starts
//     where the kernel is entered: the key does not say it.
//  2. Frames of the kernel go below those of user space, whatever their order in the key.
//  3. The only string of a key that is no probe is taken for the name of the thread. What
//     numbers are, pid, tid or cpu, a key does not say.
//
// A value is taken for a number of samples, stats() for a number and a sum; what count(),
// sum() and avg() print looks the same. Maps without stacks, histograms and negative
// values are left out, with a warning.
func readBpftrace(src *input.Source, opt *reading.Options) (*run.Run, error) {
	r := bpftrace{
		b: run.NewBuilder(src.Name), opt: opt, lines: src.Lines(), maps: make(map[string]*bpfMap),
		ids: make(map[string]uint32), locations: make(map[bpfFrame]uint32), seed: maphash.MakeSeed(),
	}
	r.files = reading.NewFiles(r.b)
	r.b.Run().Recording.Format, r.b.Run().Recording.Tool = "bpftrace", "bpftrace"
	var s bpfScanner
	for {
		line, ok := r.lines.Next()
		if !ok {
			break
		}
		switch kind, err := s.line(line); {
		case err != nil:
			r.lines.Fail("%w", err)
		case kind == bpfEntryLine:
			r.entry(&s)
		case bytes.HasPrefix(line, []byte(bpfLostStack)):
			r.lost++
		}
	}
	if s.inKey && r.lines.Err() == nil {
		r.lines.Fail("ends within a key of %s", input.Clip(s.name))
	}
	if r.lines.Err() != nil {
		return nil, r.lines.Err()
	}
	return r.finish()
}

// bpfLostStack starts what bpftrace prints where a stack of a key was not kept, because
// another one has its slot in the table of stacks.
const bpfLostStack = "ERROR: failed to look up stack id"

type bpftrace struct {
	b     *run.Builder
	opt   *reading.Options
	lines *input.Lines
	files reading.Files
	maps  map[string]*bpfMap
	list  []*bpfMap // in the order of the input
	last  *bpfMap
	lost  int

	texts     []string          // of frames
	ids       map[string]uint32 // index in texts
	locations map[bpfFrame]uint32
	seed      maphash.Seed
}

// A bpfMap is one map.
type bpfMap struct {
	name    string
	entries []bpfEntry
	stacks  bool
	kernel  map[int]bool // parts of the key that hold stacks of the kernel
	refused string       // why its values are no samples

	// A program can print a map more than once. Each time entries go from the lowest
	// value to the highest.
	printing int
	highest  int64
	seen     map[uint64]int // printing, by hash of the key
	repeated bool
}

// A bpfEntry is an entry of a map.
type bpfEntry struct {
	stacks        []bpfStack
	comm          string
	count, weight int64
}

type bpfStack struct {
	part   int
	frames []uint32 // leaf first, see bpftrace.texts
}

// A bpfFrame is a frame as it is printed, and of which side it is.
type bpfFrame struct {
	text   uint32
	kernel bool
}

// entry takes the entry that the scanner has read.
func (r *bpftrace) entry(s *bpfScanner) {
	m := r.maps[s.name]
	if m == nil {
		m = &bpfMap{name: s.name, kernel: make(map[int]bool), seen: make(map[uint64]int)}
		r.maps[s.name] = m
		r.list = append(r.list, m)
	}
	var e bpfEntry
	var names []string
	var key []byte
	for i, p := range s.parts {
		key = append(append(key, p.text...), 0)
		if !p.stack && p.text != "" && !input.IsDigits(strings.TrimPrefix(p.text, "-")) && !isProbe(p.text) {
			names = append(names, p.text)
		}
		if len(p.frames) == 0 {
			continue
		}
		st := bpfStack{part: i}
		for _, text := range p.frames {
			id, ok := r.ids[text]
			if !ok {
				id = uint32(len(r.texts))
				r.texts = append(r.texts, text)
				r.ids[text] = id
			}
			st.frames = append(st.frames, id)
			key = binary.AppendUvarint(key, uint64(id))
		}
		m.stacks = true
		m.kernel[i] = m.kernel[i] || isKernelEntry(p.frames[len(p.frames)-1])
		e.stacks = append(e.stacks, st)
	}
	if len(names) == 1 {
		e.comm = names[0]
	}
	var why string
	if e.count, e.weight, why = bpfValue(s.value); why != "" {
		m.refused = why
		return
	}
	if m != r.last || e.weight < m.highest {
		m.printing++
	}
	m.highest, r.last = e.weight, m
	hash := maphash.Bytes(r.seed, key)
	if printing, ok := m.seen[hash]; ok && printing != m.printing {
		m.repeated = true
	}
	m.seen[hash] = m.printing
	m.entries = append(m.entries, e)
}

// bpfValue reads the value of an entry: a number, or what stats() prints. why says what
// else it is.
func bpfValue(text string) (count, weight int64, why string) {
	const other, negative = "its values are no numbers of samples", "it has negative values"
	if rest, ok := strings.CutPrefix(text, "count "); ok {
		n, rest, _ := strings.Cut(rest, ", average ")
		_, total, ok := strings.Cut(rest, ", total ")
		count, err1 := strconv.ParseInt(n, 10, 64)
		weight, err2 := strconv.ParseInt(total, 10, 64)
		switch {
		case !ok || err1 != nil || err2 != nil:
			return 0, 0, other
		case count < 0 || weight < 0:
			return 0, 0, negative
		}
		return count, weight, ""
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, 0, other
	case n < 0:
		return 0, 0, negative
	}
	return n, n, ""
}

// finish makes samples of the entries.
func (r *bpftrace) finish() (*run.Run, error) {
	rec := r.b.Run()
	var left []string
	for _, m := range r.list {
		if !m.stacks {
			m.refused = "has no stacks"
		}
		if m.refused != "" {
			left = append(left, fmt.Sprintf("%s: %s", input.Clip(m.name), m.refused))
			continue
		}
		if err := r.samples(m); err != nil {
			return nil, err
		}
	}
	if len(rec.Events) == 0 {
		return nil, fmt.Errorf("has no map that counts stacks (%s): give a map kstack or ustack as key, and count() as value", clipList(left))
	}
	if len(left) > 0 {
		rec.Warnings = append(rec.Warnings, "left out maps that count no stacks: "+clipList(left))
	}
	if r.lost > 0 {
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("%d stacks were lost because bpftrace could not keep them", r.lost))
	}
	return r.b.Finish()
}

// clipList joins the first few of a list.
func clipList(list []string) string {
	const most = 3
	if len(list) > most {
		return fmt.Sprintf("%s, and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// samples adds the entries of a map.
func (r *bpftrace) samples(m *bpfMap) error {
	rec := r.b.Run()
	name := m.name
	if name == "@" {
		name = "samples"
	}
	event := r.b.Event(run.Event{Name: name, Unit: "count", WeightSqLowerBound: true})
	counted := 0.0
	var stack []uint32
	for _, e := range m.entries {
		if e.count == 0 {
			continue
		}
		if rec.Accounting.In > math.MaxInt64-e.count {
			return fmt.Errorf("%s: values sum to more than 2^63", input.Clip(m.name))
		}
		rec.Accounting.In += e.count
		counted += float64(e.count)
		// What the kernel does was called from user space.
		stack = stack[:0]
		for _, kernel := range []bool{true, false} {
			for _, st := range e.stacks {
				if m.kernel[st.part] == kernel {
					for _, text := range st.frames {
						stack = append(stack, r.location(bpfFrame{text, kernel}))
					}
				}
			}
		}
		var id run.StackID
		for _, l := range slices.Backward(stack) {
			id = r.b.Stack(id, l)
		}
		labels := r.b.Labels(run.Labels{Thread: e.comm, PID: -1, TID: -1, CPU: -1})
		r.b.AddSum(event, id, labels, e.count, e.weight, float64(e.weight)/float64(e.count)*float64(e.weight))
	}
	if m.repeated {
		rec.Warnings = append(rec.Warnings, m.name+" was printed more than once: that its values are added up is right only if the program cleared it in between")
	}
	if counted > foldedCounts {
		rec.Warnings = append(rec.Warnings, fmt.Sprintf(
			"values of %s sum to %.0f: if they are no sample counts, there are fewer samples than it says, and noise is underestimated; use count() or stats()", m.name, counted))
	}
	return nil
}

// location makes the location of a frame: name+12, 0x7f12, in mode perf
// 7f12 name+12 (file), in mode raw 7f12.
func (r *bpftrace) location(f bpfFrame) uint32 {
	if l, ok := r.locations[f]; ok {
		return l
	}
	text := r.texts[f.text]
	symbol, file := text, ""
	var addr uint64
	if frame, ok := perfscript.ParseFrame([]byte(text)); ok && strings.IndexByte(text, '+') != 0 {
		symbol, file, addr = string(frame.Symbol), string(frame.DSO), frame.Addr
	}
	if !reading.IsFile(file) && f.kernel {
		file = "[kernel.kallsyms]"
	}
	symbol = cutDecimalOffset(symbol)
	mapping := r.files.Mapping(file)
	fn := run.Function{Name: symbol}
	_, offset, unknown := reading.UnknownSymbol(symbol)
	if unknown {
		addr = max(addr, offset)
		fn = reading.UnknownFunction(file, addr, r.opt)
	}
	r.files.Named(mapping, !unknown, false, false)
	l := r.b.Location(mapping, addr, run.Line{Function: r.b.Function(fn)})
	r.locations[f] = l
	return l
}

// cutDecimalOffset cuts +12 off a symbol, and where bpftrace looks into debug information
// what follows it.
func cutDecimalOffset(symbol string) string {
	i := strings.LastIndexByte(symbol, '+')
	if i <= 0 {
		return symbol
	}
	n := i + 1
	for n < len(symbol) && symbol[n] >= '0' && symbol[n] <= '9' {
		n++
	}
	if n == i+1 || n < len(symbol) && symbol[n] != ' ' && symbol[n] != '@' {
		return symbol
	}
	return symbol[:i]
}

// kernelEntries start the names of the functions at which code of the kernel begins: where
// it is entered from user space and by interrupts, and where its threads start, on x86
// (arch/x86/entry), Arm (arch/arm64/kernel/entry.S) and RISC-V.
var kernelEntries = []string{
	"entry_SYSCALL", "entry_SYSENTER", "entry_INT80", "do_syscall_64", "asm_", "ret_from_fork", "ret_from_exception",
	"secondary_startup", "common_startup_64", "x86_64_start_kernel", "start_kernel", "error_entry", "paranoid_entry",
	"el0_", "el0t_", "el1_", "el1h_", "__primary_switched", "__secondary_switched", "ret_fast_syscall", "handle_exception", "kthread+",
}

// isKernelEntry reports whether the outermost frame of a stack is one of the kernel:
// called as above, or at an address in the upper half.
func isKernelEntry(frame string) bool {
	symbol := frame
	if f, ok := perfscript.ParseFrame([]byte(frame)); ok {
		if f.Addr>>63 == 1 {
			return true
		}
		symbol = string(f.Symbol)
	}
	return slices.ContainsFunc(kernelEntries, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// isProbe reports whether a string is what the builtin probe holds.
func isProbe(text string) bool {
	provider, _, ok := strings.Cut(text, ":")
	switch provider {
	case "kprobe", "kretprobe", "uprobe", "uretprobe", "tracepoint", "rawtracepoint", "usdt", "profile", "interval",
		"software", "hardware", "watchpoint", "fentry", "fexit", "kfunc", "kretfunc", "iter":
		return ok
	}
	return false
}

// A bpfScanner reads the entries of maps line by line.
type bpfScanner struct {
	name  string // of the map, with its @
	parts []bpfPart
	value string
	inKey bool // the last part is a stack whose frames follow
}

// A bpfPart is a part of a key.
type bpfPart struct {
	text   string
	stack  bool
	frames []string
}

// A bpfLine is what a line is.
type bpfLine uint8

const (
	bpfOtherLine bpfLine = iota // no part of a map
	bpfKeyLine                  // of a key that goes on
	bpfEntryLine                // an entry ends
	bpfBarLine                  // of a histogram
)

// line reads a line.
func (s *bpfScanner) line(line []byte) (bpfLine, error) {
	if s.inKey {
		return s.key(line)
	}
	if isHistogramBar(line) {
		return bpfBarLine, nil
	}
	if len(line) == 0 || line[0] != '@' {
		return bpfOtherLine, nil
	}
	n := 1
	for n < len(line) && (line[n] == '_' || line[n]|0x20 >= 'a' && line[n]|0x20 <= 'z' || line[n] >= '0' && line[n] <= '9') {
		n++
	}
	s.name, s.parts = string(line[:n]), nil
	switch rest := line[n:]; {
	case bytes.HasPrefix(rest, []byte(": ")):
		s.value = string(bytes.TrimSpace(rest[2:]))
		return bpfEntryLine, nil
	case bytes.HasPrefix(rest, []byte("[")):
		return s.segment(rest[1:])
	}
	return bpfOtherLine, nil
}

// key reads a line of a key: a frame, or what follows a stack.
func (s *bpfScanner) key(line []byte) (bpfLine, error) {
	text := bytes.TrimSpace(line)
	switch {
	case bytes.HasPrefix(line, []byte("]:")):
		s.end(line[2:])
		return bpfEntryLine, nil
	case bytes.HasPrefix(line, []byte(",")):
		return s.segment(bytes.TrimPrefix(line[1:], []byte(" ")))
	case bytes.HasPrefix(line, []byte("ERROR: ")), bytes.HasPrefix(line, []byte("WARNING: ")), len(text) == 0:
		return bpfOtherLine, nil
	case bytes.HasPrefix(line, []byte("@")):
		return 0, fmt.Errorf("a map begins within a key of %s", input.Clip(s.name))
	}
	last := &s.parts[len(s.parts)-1]
	last.frames = append(last.frames, input.Text(text))
	return bpfKeyLine, nil
}

// segment reads parts of a key that are no stacks, up to its end or the next stack.
func (s *bpfScanner) segment(text []byte) (bpfLine, error) {
	end := bytes.LastIndex(text, []byte("]: "))
	s.inKey = end < 0
	value := []byte(nil)
	if !s.inKey {
		text, value = text[:end], text[end+3:]
	} else if text = bytes.TrimRight(text, " "); len(text) > 0 && text[len(text)-1] != ',' {
		s.inKey = false
		return 0, fmt.Errorf("%q is no part of a key of %s", input.Clip(text), input.Clip(s.name))
	} else if len(text) > 0 {
		text = append(bytes.Clone(text), ' ')
	}
	for part := range bytes.SplitSeq(text, []byte(", ")) {
		s.parts = append(s.parts, bpfPart{text: input.Text(part)})
	}
	if s.inKey {
		s.parts[len(s.parts)-1].stack = true
		return bpfKeyLine, nil
	}
	s.end(value)
	return bpfEntryLine, nil
}

// end ends an entry.
func (s *bpfScanner) end(value []byte) {
	s.value, s.inKey = string(bytes.TrimSpace(value)), false
}

// isHistogramBar reports whether a line is of a histogram: [4, 8)  2 |@@@@   |
func isHistogramBar(line []byte) bool {
	line = bytes.TrimRight(line, " ")
	return len(line) > 1 && (line[0] == '[' || line[0] == '(') && line[len(line)-1] == '|' && bytes.IndexByte(line, '|') < len(line)-1
}

// recogniseBpftrace recognises maps by an entry with a stack in its key, from @ to its
// number. Most lines must be of maps: other text quotes them.
func recogniseBpftrace(head input.Head) (e input.Evidence) {
	var s bpfScanner
	stacks, pending := 0, 0
	for line := range head.Lines() {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e.Seen++
		kind, err := s.line(line)
		if err != nil {
			e.Why = err.Error()
			return e
		}
		switch kind {
		case bpfKeyLine:
			pending++
		case bpfBarLine:
			e.Known++
		case bpfEntryLine:
			e.Known += pending + 1
			if slices.ContainsFunc(s.parts, bpfPart.isStack) {
				stacks++
			}
			pending = 0
		}
	}
	switch {
	case s.inKey && head.IsCut():
		e.Known += pending
	case s.inKey:
		e.Why = "the last one does not end"
	}
	switch {
	case stacks == 0 && !head.IsCut():
		e.Why = "none has a stack in its key"
	case 2*e.Known < e.Seen:
		e.Why = "the others are of no map"
	default:
		e.Is = stacks > 0 || e.Known > 0
	}
	return e
}

// isStack reports whether a part holds frames, each a symbol with an offset or an address.
func (p bpfPart) isStack() bool {
	for _, f := range p.frames {
		if _, ok := perfscript.ParseFrame([]byte(f)); !ok && cutDecimalOffset(f) == f && !strings.HasPrefix(f, "0x") {
			return false
		}
	}
	return len(p.frames) > 0
}
