package ingest

import (
	"bytes"
	"strconv"

	"profdiff/internal/input"
)

// scriptHeader is the line that starts a sample.
type scriptHeader struct {
	comm          []byte
	pid, tid, cpu int64 // -1 is unknown
	time          int64 // nanoseconds
	period        int64
	event         []byte // nil is unknown
	rest          int    // where in the line other fields start
	overflow      error  // of the period

	hasIDs, hasTime, hasPeriod bool
}

var noHeader = scriptHeader{pid: -1, tid: -1, cpu: -1}

// fields is how many fields were told apart.
func (h *scriptHeader) fields() int {
	n := 0
	for _, has := range [...]bool{h.hasIDs, h.cpu >= 0, h.hasTime, h.hasPeriod, h.event != nil} {
		if has {
			n++
		}
	}
	return n
}

// strong reports whether nothing but the start of a sample looks like this.
func (h *scriptHeader) strong() bool {
	return h.hasTime || (h.hasIDs || h.hasPeriod) && h.event != nil
}

// maxNameWords is the most words that the name of a thread, of up to 15 bytes, has.
const maxNameWords = 9

// parseScriptHeader takes a line apart. The name of the thread may hold anything, so
// it is whatever stands before the words that make the most fields.
func parseScriptHeader(line []byte) (best scriptHeader, ok bool) {
	best = noHeader
	at := skipSpace(line, 0)
	for range maxNameWords {
		if at >= len(line) {
			break
		}
		h := noHeader
		h.parse(line, at)
		if h.fields() > best.fields() {
			h.comm = bytes.TrimSpace(line[:at])
			best = h
			if h.event != nil && h.hasTime && h.hasIDs {
				return best, true
			}
		}
		at = skipSpace(line, wordEnd(line, at))
	}
	if best.strong() {
		return best, true
	}
	if best.fields() == 0 {
		return noHeader, false
	}
	// So little may be chance: nothing else but a frame may be in the line, or what a
	// tracepoint prints.
	rest := line[best.rest:]
	tracepoint := bytes.IndexByte(best.event, ':') > 0
	return best, len(bytes.TrimSpace(rest)) == 0 || tracepoint || inlineFrame(line, best.rest) >= 0
}

// parse reads the fields that stand at line[at:].
func (h *scriptHeader) parse(line []byte, at int) {
	w := scriptWord{line: line}
	w.move(at)
	// pid/tid, or one number that is not padded like a period or an address.
	if pid, tid, ok := parseIDs(w.text); ok && (pid >= 0 || w.width() < 10) {
		h.pid, h.tid, h.hasIDs = pid, tid, true
		w.next()
	}
	if c := w.text; len(c) > 2 && c[0] == '[' && c[len(c)-1] == ']' && isDigits(c[1:len(c)-1]) {
		if cpu, err := strconv.ParseInt(string(c[1:len(c)-1]), 10, 32); err == nil {
			h.cpu = cpu
			w.next()
		}
	}
	if w.at > at && isMisc(w.text) && isTime(w.peek()) {
		w.next()
	}
	if isTime(w.text) {
		if ns, ok := parseTime(w.text[:len(w.text)-1]); ok {
			h.time, h.hasTime = ns, true
			w.next()
		}
	}
	// A period is padded to 10 digits by perf, but not by report_sample.py.
	if isDigits(w.text) && (w.width() >= 10 && w.width() < frameWidth || h.fields() > 0 && isEvent(w.peek())) {
		h.period, h.overflow = parseWeight(w.text)
		h.hasPeriod = true
		w.next()
	}
	if isEvent(w.text) {
		h.event = w.text[:len(w.text)-1]
		w.next()
	}
	h.rest = w.at
}

// scriptWord is a word of a line.
type scriptWord struct {
	line []byte
	at   int
	text []byte
}

func (w *scriptWord) move(at int) {
	w.at = at
	w.text = w.line[at:wordEnd(w.line, at)]
}

func (w *scriptWord) next() { w.move(skipSpace(w.line, w.at+len(w.text))) }

// peek is the word after.
func (w *scriptWord) peek() []byte {
	at := skipSpace(w.line, w.at+len(w.text))
	return w.line[at:wordEnd(w.line, at)]
}

// width is the length of the word and the space before it.
func (w *scriptWord) width() int {
	at := w.at
	for at > 0 && w.line[at-1] == ' ' {
		at--
	}
	return w.at - at + len(w.text)
}

func isEvent(word []byte) bool {
	return len(word) > 1 && word[len(word)-1] == ':' && !isTime(word)
}

func skipSpace(line []byte, at int) int {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	return at
}

func wordEnd(line []byte, at int) int {
	for at < len(line) && line[at] != ' ' && line[at] != '\t' {
		at++
	}
	return at
}

// parseIDs reads pid/tid, or a tid alone. The kernel has ids up to 2^22; -1 is none.
func parseIDs(word []byte) (pid, tid int64, ok bool) {
	const most = 7
	first, second, both := bytes.Cut(word, []byte("/"))
	id := func(b []byte) (int64, bool) {
		if string(b) == "-1" {
			return -1, true
		}
		if !isDigits(b) || len(b) > most {
			return -1, false
		}
		v, err := strconv.ParseInt(string(b), 10, 64)
		return v, err == nil
	}
	if !both {
		tid, ok = id(first)
		return -1, tid, ok
	}
	pid, ok = id(first)
	tid, ok2 := id(second)
	return pid, tid, ok && ok2
}

// isMisc reports whether word is the misc field: letters of where a sample was taken
// and of side-band records.
func isMisc(word []byte) bool {
	for _, c := range word {
		if !bytes.ContainsRune([]byte("KUHGgMFCESsOWA"), rune(c)) {
			return false
		}
	}
	return len(word) > 0 && len(word) <= 6
}

// isTime reports whether word is seconds with a fraction, and a colon.
func isTime(word []byte) bool {
	if len(word) < 4 || word[len(word)-1] != ':' {
		return false
	}
	seconds, fraction, ok := bytes.Cut(word[:len(word)-1], []byte("."))
	return ok && isDigits(seconds) && isDigits(fraction)
}

// parseTime reads seconds with a fraction as nanoseconds.
func parseTime(b []byte) (ns int64, ok bool) {
	seconds, fraction, _ := bytes.Cut(b, []byte("."))
	if len(seconds) > 9 {
		return 0, false
	}
	for _, c := range seconds {
		ns = 10*ns + int64(c-'0')
	}
	for i := range 9 {
		ns *= 10
		if i < len(fraction) {
			ns += int64(fraction[i] - '0')
		}
	}
	return ns, true
}

// scriptFrame is a line of a call chain.
type scriptFrame struct {
	addr    uint64
	symbol  []byte // without offset
	dso     []byte
	inlined bool
}

// parseScriptFrame reads address symbol+0x1f (dso), of which only the address is
// always there. The symbol may hold spaces and parentheses.
func parseScriptFrame(line []byte) (f scriptFrame, ok bool) {
	line = bytes.TrimRight(line[skipSpace(line, 0):], " ")
	if f.inlined, ok = isScriptFrame(line); !ok {
		return f, false
	}
	end := wordEnd(line, 0)
	for _, c := range line[:end] {
		v, _ := hexDigit(c)
		f.addr = f.addr<<4 | uint64(v)
	}
	rest := bytes.TrimSpace(line[end:])
	rest, f.dso = cutDSO(rest)
	if f.inlined {
		f.dso = nil
	}
	f.symbol = cutOffset(rest)
	return f, true
}

// isScriptFrame reports whether line is a frame, and if so of a function that is
// inlined into the next.
func isScriptFrame(line []byte) (inlined, ok bool) {
	at := skipSpace(line, 0)
	end := wordEnd(line, at)
	if !isHex(line[at:end]) || end-at > frameWidth || end+1 < len(line) && (line[end] == '\t' || line[end+1] == ' ') {
		return false, false
	}
	return bytes.HasSuffix(line, []byte(" (inlined)")), true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

func isHex(b []byte) bool {
	for _, c := range b {
		if _, ok := hexDigit(c); !ok {
			return false
		}
	}
	return len(b) > 0
}

// frameWidth is to how many digits addresses are padded.
const frameWidth = 16

// cutDSO cuts the last group in parentheses off: the file, whose name may hold some
// itself, as in (/usr/lib/libc.so (deleted)).
func cutDSO(b []byte) (rest, dso []byte) {
	if len(b) == 0 || b[len(b)-1] != ')' {
		return b, nil
	}
	depth := 0
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			if i > 0 && b[i-1] != ' ' {
				return b, nil
			}
			dso = b[i+1 : len(b)-1]
			// -F +dsoff prints dso+0x1f.
			if j := bytes.LastIndex(dso, []byte("+0x")); j > 0 && isHex(dso[j+3:]) {
				dso = dso[:j]
			}
			return bytes.TrimRight(b[:i], " "), dso
		}
	}
	return b, nil
}

// cutOffset cuts +0x1f off a symbol.
func cutOffset(symbol []byte) []byte {
	if i := bytes.LastIndex(symbol, []byte("+0x")); i > 0 && isHex(symbol[i+3:]) {
		return symbol[:i]
	}
	return symbol
}

// inlineFrame finds the frame at the end of a sample's line, behind other fields that
// start at from: its address is padded, or follows directly. It returns where the
// frame starts, or -1.
func inlineFrame(line []byte, from int) int {
	found := -1
	w := scriptWord{line: line}
	for w.move(skipSpace(line, from)); len(w.text) > 0; w.next() {
		if isHex(w.text) && len(w.text) <= frameWidth && (w.width() >= frameWidth || w.at == from) {
			found = w.at
		}
	}
	if found >= 0 {
		if _, ok := parseScriptFrame(line[found:]); !ok {
			return -1
		}
	}
	return found
}

// isBranchStack reports whether a line is the branch stack of a sample with a call
// chain.
func isBranchStack(line []byte) bool {
	for _, flags := range []string{"/P/-/", "/M/-/", "/-/-/", "/P/X/", "/M/X/", "/PN/", "/MN/"} {
		if bytes.Contains(line, []byte(flags)) {
			return true
		}
	}
	return false
}

// cutBranches cuts off the branch stack, which follows the file of the sample's
// frame: 0x12(dso)/0x34(dso)/P/-/-/0 or from+0x1/to+0x2/P/-/-/0.
func cutBranches(rest []byte) []byte {
	if len(rest) == 0 || rest[len(rest)-1] == ')' {
		return rest
	}
	for _, open := range []string{" (/", " (["} {
		i := bytes.Index(rest, []byte(open))
		if i < 0 {
			continue
		}
		depth := 0
		for j := i + 1; j < len(rest); j++ {
			switch rest[j] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				return rest[:j+1]
			}
		}
	}
	return rest
}

// parseSourceLine reads the line that -F +srcline adds below a frame: file:12. It
// returns nil if the place is unknown.
func parseSourceLine(line []byte) (file []byte, n int64) {
	line = bytes.TrimSpace(line)
	i := bytes.LastIndexByte(line, ':')
	if i <= 0 {
		return nil, 0
	}
	// Discriminators: file.c:12 (discriminator 3)
	number, _, _ := bytes.Cut(line[i+1:], []byte(" "))
	if !isDigits(number) || len(number) > 9 {
		return nil, 0
	}
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || n == 0 || string(line[:i]) == "??" {
		return nil, 0
	}
	return line[:i], n
}

// isPerfScript reports whether head has a sample of perf script: a line with time and
// event or with a frame, or, below a line of its own, a frame.
func isPerfScript(head input.Head) bool {
	below := false // a line that may start a sample was above
	for line := range head.Lines() {
		line = bytes.TrimRight(line, " \t")
		switch {
		case len(line) == 0:
			below = true
			continue
		case bytes.HasPrefix(line, []byte("# ========")):
			return true
		case line[0] == '#':
			continue
		case line[0] == '\t':
			if inlined, ok := isScriptFrame(line); below && ok && (inlined || skipSpace(line, 1) > 1 || wordEnd(line, 1) == 1+frameWidth) {
				return true
			}
			return false
		}
		h, ok := parseScriptHeader(line)
		switch {
		case ok && h.hasTime && (h.event != nil || h.hasIDs):
			return true
		case ok && h.event != nil && h.rest == len(line) && (h.hasIDs || h.hasPeriod || len(h.comm) > 0 && line[0] == ' '):
			return true
		}
		// Without time and event the only thing to go by is a frame: with its file, or
		// an address that is padded, behind other fields.
		if at := inlineFrame(line, 0); at >= 0 {
			w := scriptWord{line: line}
			w.move(at)
			if line[len(line)-1] == ')' || ok && w.width() >= frameWidth {
				return true
			}
		}
		if below && line[0] == ' ' {
			return false
		}
		below = true
	}
	return false
}
