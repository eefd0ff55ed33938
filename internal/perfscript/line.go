package perfscript

import (
	"bytes"
	"strconv"

	"profdiff/internal/input"
)

// A Header is the line that starts a sample.
type Header struct {
	Comm          []byte
	PID, TID, CPU int64 // -1 is unknown
	Time          int64 // nanoseconds
	Period        int64
	Event         []byte // nil is unknown
	Rest          int    // where in the line other fields start
	Overflow      error  // of the period

	HasIDs, HasTime, HasPeriod bool
}

// NoHeader is a header without any field.
var NoHeader = Header{PID: -1, TID: -1, CPU: -1}

// fields is how many fields were told apart.
func (h *Header) fields() int {
	n := 0
	for _, has := range [...]bool{h.HasIDs, h.CPU >= 0, h.HasTime, h.HasPeriod, h.Event != nil} {
		if has {
			n++
		}
	}
	return n
}

// Strong reports whether nothing but the start of a sample looks like this.
func (h *Header) Strong() bool {
	return h.HasTime || (h.HasIDs || h.HasPeriod) && h.Event != nil
}

// maxNameWords is the most words that the name of a thread, of up to 15 bytes, has.
const maxNameWords = 9

// ParseHeader takes a line apart. The name of the thread may hold anything, so
// it is whatever stands before the words that make the most fields.
func ParseHeader(line []byte) (best Header, ok bool) {
	best = NoHeader
	at := skipSpace(line, 0)
	for range maxNameWords {
		if at >= len(line) {
			break
		}
		h := NoHeader
		h.parse(line, at)
		if h.fields() > best.fields() {
			h.Comm = bytes.TrimSpace(line[:at])
			best = h
			if h.Event != nil && h.HasTime && h.HasIDs {
				return best, true
			}
		}
		at = skipSpace(line, wordEnd(line, at))
	}
	if best.Strong() {
		return best, true
	}
	if best.fields() == 0 {
		return NoHeader, false
	}
	// So little may be chance: nothing else but a frame may be in the line, or what a
	// tracepoint prints.
	rest := line[best.Rest:]
	tracepoint := bytes.IndexByte(best.Event, ':') > 0
	return best, len(bytes.TrimSpace(rest)) == 0 || tracepoint || InlineFrame(line, best.Rest) >= 0
}

// parse reads the fields that stand at line[at:].
func (h *Header) parse(line []byte, at int) {
	w := word{line: line}
	w.move(at)
	// pid/tid, or one number that is not padded like a period or an address.
	if pid, tid, ok := parseIDs(w.text); ok && (pid >= 0 || w.width() < 10) {
		h.PID, h.TID, h.HasIDs = pid, tid, true
		w.next()
	}
	if c := w.text; len(c) > 2 && c[0] == '[' && c[len(c)-1] == ']' && input.IsDigits(c[1:len(c)-1]) {
		if cpu, err := strconv.ParseInt(string(c[1:len(c)-1]), 10, 32); err == nil {
			h.CPU = cpu
			w.next()
		}
	}
	if w.at > at && isMisc(w.text) && isTime(w.peek()) {
		w.next()
	}
	if isTime(w.text) {
		if ns, ok := parseTime(w.text[:len(w.text)-1]); ok {
			h.Time, h.HasTime = ns, true
			w.next()
		}
	}
	// A period is padded to 10 digits by perf, but not by report_sample.py.
	if input.IsDigits(w.text) && (w.width() >= 10 && w.width() < frameWidth || h.fields() > 0 && isEvent(w.peek())) {
		h.Period, h.Overflow = input.ParseWeight(w.text)
		h.HasPeriod = true
		w.next()
	}
	if isEvent(w.text) {
		h.Event = w.text[:len(w.text)-1]
		w.next()
	}
	h.Rest = w.at
}

// A word is a word of a line.
type word struct {
	line []byte
	at   int
	text []byte
}

func (w *word) move(at int) {
	w.at = at
	w.text = w.line[at:wordEnd(w.line, at)]
}

func (w *word) next() { w.move(skipSpace(w.line, w.at+len(w.text))) }

// peek is the word after.
func (w *word) peek() []byte {
	at := skipSpace(w.line, w.at+len(w.text))
	return w.line[at:wordEnd(w.line, at)]
}

// width is the length of the word and the space before it.
func (w *word) width() int {
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
		if !input.IsDigits(b) || len(b) > most {
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
	return ok && input.IsDigits(seconds) && input.IsDigits(fraction)
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

// A Frame is a line of a call chain.
type Frame struct {
	Addr    uint64
	Symbol  []byte // without offset
	DSO     []byte
	Inlined bool
}

// ParseFrame reads address symbol+0x1f (dso), of which only the address is
// always there. The symbol may hold spaces and parentheses.
func ParseFrame(line []byte) (f Frame, ok bool) {
	line = bytes.TrimRight(line[skipSpace(line, 0):], " ")
	if f.Inlined, ok = IsFrame(line); !ok {
		return f, false
	}
	end := wordEnd(line, 0)
	for _, c := range line[:end] {
		f.Addr = f.Addr<<4 | uint64(hexDigit(c))
	}
	rest := bytes.TrimSpace(line[end:])
	rest, f.DSO = cutDSO(rest)
	if f.Inlined {
		f.DSO = nil
	}
	f.Symbol = cutOffset(rest)
	return f, true
}

// IsFrame reports whether line is a frame, and if so of a function that is
// inlined into the next.
func IsFrame(line []byte) (inlined, ok bool) {
	at := skipSpace(line, 0)
	end := wordEnd(line, at)
	if !input.IsHex(line[at:end]) || end-at > frameWidth || end+1 < len(line) && (line[end] == '\t' || line[end+1] == ' ') {
		return false, false
	}
	return bytes.HasSuffix(line, []byte(" (inlined)")), true
}

// hexDigit is the value of a digit.
func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
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
			if j := bytes.LastIndex(dso, []byte("+0x")); j > 0 && input.IsHex(dso[j+3:]) {
				dso = dso[:j]
			}
			return bytes.TrimRight(b[:i], " "), dso
		}
	}
	return b, nil
}

// cutOffset cuts +0x1f off a symbol.
func cutOffset(symbol []byte) []byte {
	if i := bytes.LastIndex(symbol, []byte("+0x")); i > 0 && input.IsHex(symbol[i+3:]) {
		return symbol[:i]
	}
	return symbol
}

// InlineFrame finds the frame at the end of a sample's line, behind other fields that
// start at from: its address is padded, or follows directly. It returns where the
// frame starts, or -1.
func InlineFrame(line []byte, from int) int {
	found := -1
	w := word{line: line}
	for w.move(skipSpace(line, from)); len(w.text) > 0; w.next() {
		if input.IsHex(w.text) && len(w.text) <= frameWidth && (w.width() >= frameWidth || w.at == from) {
			found = w.at
		}
	}
	if found >= 0 {
		if _, ok := ParseFrame(line[found:]); !ok {
			return -1
		}
	}
	return found
}

// isBranchStack reports whether a line has a branch stack, of addresses or of symbols.
func isBranchStack(line []byte) bool {
	for {
		at := bytes.IndexByte(line, '/')
		if at < 0 || len(line)-at < len("/PN/") {
			return false
		}
		if c := line[at+1]; c == 'P' || c == 'M' || c == '-' {
			for _, flags := range []string{"/P/-/", "/M/-/", "/-/-/", "/P/X/", "/M/X/", "/PN/", "/MN/"} {
				if bytes.HasPrefix(line[at:], []byte(flags)) {
					return true
				}
			}
		}
		line = line[at+1:]
	}
}

// StackStart is where the branch stack of a line starts, its length if there is none. A
// stack of symbols (-F +brstacksym) starts with the first word that has flags.
func StackStart(line []byte) int {
	at := FirstBranch(line)
	if at == len(line) && bytes.IndexByte(line, '/') >= 0 && isBranchStack(line) {
		w := word{line: line}
		for w.move(skipSpace(line, 0)); !isBranchStack(w.text); {
			w.next()
		}
		return w.at
	}
	return at
}

// CutBranches cuts off the branch stack, which follows the file of the sample's
// frame: 0x12(dso)/0x34(dso)/P/-/-/0 or from+0x1/to+0x2/P/-/-/0.
func CutBranches(rest []byte) []byte {
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

// ParseSourceLine reads the line that -F +srcline adds below a frame: file:12. It
// returns nil if the place is unknown.
func ParseSourceLine(line []byte) (file []byte, n int64) {
	line = bytes.TrimSpace(line)
	i := bytes.LastIndexByte(line, ':')
	if i <= 0 {
		return nil, 0
	}
	// Discriminators: file.c:12 (discriminator 3)
	number, _, _ := bytes.Cut(line[i+1:], []byte(" "))
	if !input.IsDigits(number) || len(number) > 9 {
		return nil, 0
	}
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || n == 0 || string(line[:i]) == "??" {
		return nil, 0
	}
	return line[:i], n
}
