package ingest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
	"profdiff/internal/slots"
)

// maxDepth is the most frames of a folded stack. What writes such stacks writes no more than some
// thousand: they come from a kernel, a profiler or a debugger that has a bound of its own.
const maxDepth = 1 << 16

// foldedCounts is the most that the weights of a folded file are taken to be sample
// counts without a warning: 28 hours of one CPU at 100 samples per second.
const foldedCounts = 10_000_000

// readFolded reads folded stacks: lines frame;frame;…;leaf weight, root first, as
// FlameGraph's stackcollapse scripts, inferno, async-profiler, simpleperf's
// stackcollapse.py and profdiff write them, or stack TAB weight TAB samples.
//
// Within a frame \; \\ and \t stand for ; \ and TAB; any other backslash is itself.
// The annotations _[k] _[j] _[1] _[0] and _[i] of the stackcollapse scripts and
// async-profiler tell the kind of code and are cut off the name; an inlined frame
// joins the location of its caller. Compiled and interpreted methods of Java are one.
// A first frame [NAME tid=N], as async-profiler writes it, is a thread and no frame.
//
// The format does not tell what weights are. They are taken as sample counts, unless
// there is a column of them; Σw² is then the least that is possible.
func readFolded(src *input.Source, opt *reading.Options) (*run.Run, error) {
	if err := refuseDifference(src.Head); err != nil {
		return nil, err
	}
	f := folded{b: run.NewBuilder(src.Name), opt: opt, lines: src.Lines(), others: make(map[string]uint32)}
	f.b.Run().Recording.Format = "folded"
	f.event = f.b.Event(run.Event{Name: "samples", Unit: "count", WeightSqLowerBound: true})
	f.kinds = make(map[run.MappingKind]uint32)
	f.files = reading.NewFiles(f.b)
	for {
		line, ok := f.lines.Next()
		if !ok {
			break
		}
		f.line(line)
	}
	if f.lines.Err() != nil {
		return nil, f.lines.Err()
	}
	return f.finish()
}

type folded struct {
	b     *run.Builder
	opt   *reading.Options
	lines *input.Lines
	event uint32
	// plain has the locations of frames that say no more than the name of their function, by that name; others
	// those of all other texts of a frame and those inlined into it.
	plain   slots.Table
	others  map[string]uint32
	kinds   map[run.MappingKind]uint32 // mapping of frames that are annotated only
	files   reading.Files
	rounded int64
	counted bool // there is a column of sample counts
	total   float64
}

func (f *folded) finish() (*run.Run, error) {
	r := f.b.Run()
	if f.rounded > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d weights with a fraction were rounded to integers", f.rounded))
	}
	if !f.counted && f.total > foldedCounts {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"weights sum to %.0f: if they are no sample counts, there are fewer samples than it says, and noise is underestimated; read the recording itself", f.total))
	}
	f.plain, f.others = slots.Table{}, nil
	return f.b.Finish()
}

// line adds one line.
func (f *folded) line(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
		return
	}
	stack, weight, count, err := f.split(line)
	if err != nil {
		f.lines.Fail("%w", err)
		return
	}
	stack, labels := f.thread(stack)
	var id run.StackID
	for depth := 0; len(stack) > 0; depth++ {
		if depth == maxDepth {
			f.lines.Fail("the stack has more than %d frames, as no recorder writes them", maxDepth)
			return
		}
		end := frameEnd(stack)
		// Frames that are inlined into this one.
		for end < len(stack) {
			next := frameEnd(stack[end+1:])
			if !bytes.HasSuffix(stack[end+1:end+1+next], []byte("_[i]")) {
				break
			}
			end += 1 + next
		}
		id = f.b.Stack(id, f.frame(stack[:end]))
		stack = stack[min(end+1, len(stack)):]
	}
	sq := 0.0
	if count > 0 {
		sq = float64(weight) / float64(count) * float64(weight)
	}
	if weight == 0 && count == 0 {
		return
	}
	in := &f.b.Run().Accounting.In
	if count > math.MaxInt64-*in {
		f.lines.Fail("weights sum to more than 2^63")
		return
	}
	*in += count
	f.total += float64(weight)
	f.b.AddSum(f.event, id, labels, count, weight, sq)
}

// frame returns the location of a frame and those inlined into it.
func (f *folded) frame(text []byte) uint32 {
	// Mostly, what has an annotation or brackets is not called so.
	if bytes.HasSuffix(text, []byte("]")) {
		if loc, ok := f.others[string(text)]; ok {
			return loc
		}
	}
	hash := slots.HashBytes(text)
	at, ok := f.plain.Find(hash, func(loc uint32) bool { return f.isName(loc, text) })
	if ok {
		return f.plain.Index(at)
	}
	loc, ok := f.others[string(text)]
	if !ok {
		if loc = f.location(text); f.isName(loc, text) {
			f.plain.Put(at, hash, int(loc))
		} else {
			f.others[string(text)] = loc
		}
	}
	return loc
}

// isName reports whether a location is that of a function, and of no other, whose name is the text.
func (f *folded) isName(loc uint32, text []byte) bool {
	r := f.b.Run()
	lines := r.Locations[loc].Lines
	return len(lines) == 1 && r.Functions[lines[0].Function].Name == string(text)
}

// thread takes the thread off a stack that starts with one, and returns its labels.
func (f *folded) thread(stack []byte) (rest []byte, labels uint32) {
	end := frameEnd(stack)
	inner, ok := bytes.CutPrefix(stack[:end], []byte("["))
	if !ok || !bytes.HasSuffix(inner, []byte("]")) {
		return stack, 0
	}
	inner = inner[:len(inner)-1]
	i := bytes.LastIndex(inner, []byte("tid="))
	if i < 0 || !input.IsDigits(inner[i+len("tid="):]) || i > 0 && inner[i-1] != ' ' {
		return stack, 0
	}
	l := run.Labels{Thread: unescapeFrame(bytes.TrimSpace(inner[:i])), PID: -1, TID: -1, CPU: -1}
	if tid, err := strconv.ParseInt(string(inner[i+len("tid="):]), 10, 32); err == nil && f.opt.TID {
		l.TID = tid
	}
	return stack[min(end+1, len(stack)):], f.b.Labels(l)
}

// split takes a line apart into its stack and its numbers.
func (f *folded) split(line []byte) (stack []byte, weight, count int64, err error) {
	line = bytes.TrimRight(line, " ")
	i := bytes.LastIndexAny(line, " \t")
	if i < 0 {
		return nil, 0, 0, fmt.Errorf("%q has no weight", input.Clip(line))
	}
	last := line[i+1:]
	stack = bytes.TrimRight(line[:i], " ")
	// stack TAB weight TAB samples
	if line[i] == '\t' {
		if j := bytes.LastIndexByte(stack, '\t'); j >= 0 && isNumber(stack[j+1:]) && input.IsDigits(last) {
			if weight, err = f.weight(stack[j+1:]); err != nil {
				return nil, 0, 0, err
			}
			if count, err = input.ParseCount(last); err != nil {
				return nil, 0, 0, err
			}
			f.counted = true
			return stack[:j], weight, count, nil
		}
	}
	if weight, err = f.weight(last); err != nil {
		return nil, 0, 0, err
	}
	return stack, weight, weight, nil
}

// weight reads a weight. Decimal fractions are rounded.
func (f *folded) weight(b []byte) (int64, error) {
	if input.IsDigits(b) {
		return input.ParseCount(b)
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%q is no weight", input.Clip(b))
	case v < 0:
		return 0, fmt.Errorf("weight %s is negative: this is no recording but a difference", input.Clip(b))
	case v >= math.MaxInt64:
		return 0, fmt.Errorf("weight %s exceeds 2^63", input.Clip(b))
	}
	if v != math.Trunc(v) {
		f.rounded++
	}
	return int64(math.RoundToEven(v)), nil
}

// isNumber reports whether b is a decimal number as tools write weights.
func isNumber(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	whole, fraction, ok := bytes.Cut(b, []byte("."))
	return input.IsDigits(whole) && (!ok || input.IsDigits(fraction))
}

// frameEnd is where the first frame of stack ends: at a ; without a backslash.
func frameEnd(stack []byte) int {
	for i := 0; i < len(stack); i++ {
		switch stack[i] {
		case ';':
			return i
		case '\\':
			i++
		}
	}
	return len(stack)
}

// location makes the location of a frame and those inlined into it, which follow.
func (f *folded) location(frames []byte) uint32 {
	var lines []run.Line
	mapping := uint32(0)
	addr := uint64(0)
	known := false
	for rest := frames; ; {
		end := frameEnd(rest)
		name := unescapeFrame(rest[:end])
		name, kind, java := cutAnnotation(name)
		// Other code that was compiled while it ran may have a path in its name: ~f /lib/f.js:3.
		if name = reading.SteadyName(name); java && !strings.HasPrefix(name, "/") && !strings.ContainsAny(name, " :") {
			name = reading.JavaClass(name)
		}
		file, offset, unknown := reading.UnknownSymbol(name)
		var fn run.Function
		switch {
		case unknown && file == "" && kind == run.KernelMapping:
			fn = reading.UnknownFunction("[kernel.kallsyms]", 0, f.opt)
		case unknown:
			fn = reading.UnknownFunction(file, offset, f.opt)
			mapping, addr = f.files.Mapping(file), offset
		case isBracketed(name):
			fn = run.Function{Name: name, SystemName: name, Unknown: true}
		default:
			fn = run.Function{Name: name}
			known = true
		}
		if kind != run.UnknownMapping && mapping == 0 {
			mapping = f.kind(kind)
		}
		lines = append(lines, run.Line{Function: f.b.Function(fn)})
		if end >= len(rest) {
			break
		}
		rest = rest[end+1:]
	}
	slices.Reverse(lines)
	f.files.Named(mapping, known, false, len(lines) > 1)
	return f.b.Location(mapping, addr, lines...)
}

// kind returns the mapping for frames of which only the kind of code is known.
func (f *folded) kind(kind run.MappingKind) uint32 {
	i, ok := f.kinds[kind]
	if !ok {
		file := "[JIT]"
		if kind == run.KernelMapping {
			file = "[kernel.kallsyms]"
		}
		i = f.b.Mapping(run.Mapping{File: file, Limit: math.MaxUint64, Kind: kind})
		f.kinds[kind] = i
	}
	return i
}

// isBracketed reports whether a frame stands for code without a name: [libc.so].
func isBracketed(name string) bool {
	return strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]")
}

// cutAnnotation cuts the annotation off a frame, which tells the kind of its code, and whether only methods of Java have it.
func cutAnnotation(name string) (base string, kind run.MappingKind, java bool) {
	if len(name) < 5 || name[len(name)-1] != ']' {
		return name, run.UnknownMapping, false
	}
	switch base := name[:len(name)-4]; name[len(name)-4:] {
	case "_[k]":
		return base, run.KernelMapping, false
	case "_[j]", "_[1]", "_[0]":
		return base, run.JITMapping, true
	case "_[i]":
		return base, run.UnknownMapping, true
	}
	return name, run.UnknownMapping, false
}

func unescapeFrame(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return input.Text(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) {
			switch b[i+1] {
			case ';', '\\':
				i++
			case 't':
				i++
				out = append(out, '\t')
				continue
			case 'n':
				i++
				out = append(out, '\n')
				continue
			case 'r':
				i++
				out = append(out, '\r')
				continue
			case 'x':
				if c, err := strconv.ParseUint(string(b[min(i+2, len(b)):min(i+4, len(b))]), 16, 8); err == nil && i+4 <= len(b) {
					i += 3
					out = append(out, byte(c))
					continue
				}
			}
		}
		out = append(out, b[i])
	}
	return input.Text(out)
}

// refuseDifference recognizes the output of difffolded.pl and inferno-diff-folded:
// each line has the weights of two recordings.
func refuseDifference(head input.Head) error {
	lines, pairs := 0, 0
	for line := range head.Lines() {
		if line = bytes.TrimRight(line, " "); len(line) == 0 || line[0] == '#' {
			continue
		}
		lines++
		i := bytes.LastIndexByte(line, ' ')
		if i < 0 || !isNumber(line[i+1:]) {
			continue
		}
		stack := bytes.TrimRight(line[:i], " ")
		if j := bytes.LastIndexByte(stack, ' '); j >= 0 && isNumber(stack[j+1:]) {
			pairs++
		}
	}
	if lines > 0 && pairs == lines {
		return fmt.Errorf("every line has two weights, as difffolded.pl writes them: give the two recordings that it was made of")
	}
	return nil
}

// recogniseFolded recognises folded stacks: every line ends with a weight, and one of
// twenty stacks at least has a second frame. Other text has numbers at the ends of its
// lines, too, so that where all stacks have one frame, one of them must be what nothing
// but code is called.
func recogniseFolded(head input.Head) (e input.Evidence) {
	deep, columns, named := 0, 0, false
	for line := range head.Lines() {
		line = bytes.TrimRight(line, " ")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		e.Seen++
		i := bytes.LastIndexAny(line, " \t")
		if i <= 0 || !isNumber(line[i+1:]) && !isExponent(line[i+1:]) {
			continue
		}
		e.Known++
		stack := bytes.TrimRight(line[:i], " ")
		if isDeep(stack) {
			deep++
		}
		if hasColumns(stack, line[i:]) {
			columns++
		}
		named = named || isCodeName(stack)
	}
	switch {
	case e.Seen == 0:
		// Not even the first line may have an end in head.
		e.Is = head.IsCut() && isDeep(head)
	case e.Known < e.Seen:
		e.Why = "the others do not end with a number"
	case 20*deep < e.Seen && (deep > 0 || !named) && columns < e.Seen:
		e.Why = "they are no stacks frame;frame;… weight"
	default:
		e.Is = true
	}
	return e
}

// isDeep reports whether a stack has a second frame, without a space before it as text
// behind a semicolon has, and not within a value of KEY="VALUE".
func isDeep(stack []byte) bool {
	i := bytes.IndexByte(stack, ';')
	return i > 0 && i+1 < len(stack) && stack[i+1] != ' ' && stack[i+1] != ';' && !bytes.Contains(stack[:i], []byte(`="`))
}

// hasColumns reports whether a line is stack TAB weight TAB samples, of which there are no
// more than the weight.
func hasColumns(stack, samples []byte) bool {
	j := bytes.LastIndexByte(stack, '\t')
	if samples[0] != '\t' || j <= 0 {
		return false
	}
	weight, err1 := input.ParseCount(stack[j+1:])
	count, err2 := input.ParseCount(samples[1:])
	return err1 == nil && err2 == nil && 0 < count && count <= weight
}

// isCodeName reports whether a frame is called what nothing but code is.
func isCodeName(frame []byte) bool {
	switch string(frame) {
	case "main", "_main", "_start":
		return true
	}
	if bytes.ContainsAny(frame, " =") {
		return false
	}
	for _, part := range []string{"::", "()", "_[k]", "_[j]", "[unknown]", ".so]", ".so.", "[kernel"} {
		if bytes.Contains(frame, []byte(part)) {
			return true
		}
	}
	return false
}

func isExponent(b []byte) bool {
	mantissa, exponent, ok := bytes.Cut(bytes.ToLower(b), []byte("e"))
	return ok && isNumber(mantissa) && input.IsDigits(bytes.TrimLeft(exponent, "+-"))
}
