package ftrace

import (
	"bytes"
	"math"
	"strconv"

	"profdiff/internal/input"
)

// A line is an event as ftrace and trace-cmd report print it.
type line struct {
	task      []byte // name of the thread, "<...>" if the kernel has forgotten it
	tid, tgid int64  // tgid is -1 if it is not known
	cpu       uint32
	flags     []byte // as irqs-off, need-resched, hardirq or softirq, nil if they are not there
	time      int64  // nanoseconds
	event     []byte // "" if there is none, as the function tracer prints lines
	args      []byte
}

// parseLine reads an event:
//
//	<idle>-0       (-----) [001] d.h2. 46670.759903: sched_waking: comm=compile pid=12088 prio=120
//	 my app-12161   [000] 46671.018974: tracing_mark_write: B|12106|outer
//
// The name of the thread may hold anything, so that all is found from the number of the CPU in
// brackets: the first ones with the number of a thread before and a time after them. The tgid and
// the flags may be missing. Must match trace_print_context and trace_print_lat_fmt in
// kernel/trace/trace_output.c, and tep_print_event in libtraceevent.
func parseLine(b []byte) (l line, ok bool) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], '[')
		if i < 0 {
			return l, false
		}
		at += i
		if l, ok = parseAround(b, at); ok {
			return l, true
		}
	}
}

// parseAround reads an event whose CPU stands at b[bracket:].
func parseAround(b []byte, bracket int) (l line, ok bool) {
	digits, rest, found := bytes.Cut(b[bracket+1:], []byte("]"))
	if !found || len(digits) == 0 || len(digits) > len("00000") {
		return l, false
	}
	cpu, ok := parseInt(digits)
	if !ok {
		return l, false
	}
	l.cpu = uint32(cpu)
	if !l.parseTask(b[:bracket]) {
		return l, false
	}
	rest = bytes.TrimLeft(rest, " \t")
	word, after := cutWord(rest)
	if isFlags(word) {
		l.flags, rest = word, bytes.TrimLeft(after, " \t")
		word, after = cutWord(rest)
	}
	if word, found = bytes.CutSuffix(word, []byte(":")); !found {
		return l, false
	}
	if l.time, ok = parseTime(word); !ok {
		return l, false
	}
	after = bytes.TrimLeft(after, " \t")
	if event, args := cutWord(after); bytes.HasSuffix(event, []byte(":")) {
		l.event, l.args = event[:len(event)-1], bytes.Trim(args, " \t")
	} else {
		l.args = after
	}
	return l, true
}

// parseTask reads "  my app-12161   (  12106) ".
func (l *line) parseTask(b []byte) bool {
	b = bytes.TrimRight(b, " \t")
	l.tgid = -1
	if inner, found := bytes.CutSuffix(b, []byte(")")); found {
		i := bytes.LastIndexByte(inner, '(')
		if i < 0 {
			return false
		}
		if text := bytes.Trim(inner[i+1:], " "); len(bytes.Trim(text, "-")) > 0 {
			var ok bool
			if l.tgid, ok = parseInt(text); !ok {
				return false
			}
		}
		b = bytes.TrimRight(inner[:i], " \t")
	}
	i := bytes.LastIndexByte(b, '-')
	if i < 0 {
		return false
	}
	tid, ok := parseInt(b[i+1:])
	l.tid, l.task = tid, taskName(b[:i])
	return ok
}

// taskWidth is to how many characters the names of threads are filled up.
const taskWidth = 16

// taskName is the name of a thread without the spaces before it, and without the name of the
// instance of the tracer that trace-cmd prints in front of them.
func taskName(b []byte) []byte {
	if i := bytes.Index(b, []byte(": ")); i > 0 && len(b)-i-len(": ") >= taskWidth && bytes.IndexByte(b[:i], ' ') < 0 {
		b = b[i+1:]
	}
	return bytes.TrimLeft(b, " \t")
}

// isFlags reports whether a word is the column of flags: "d..2.", "....", "dNh3", ".N.s2".
func isFlags(word []byte) bool {
	if len(word) < 3 || len(word) > 8 {
		return false
	}
	for i, c := range word {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if c != '.' && (!letter || i > 2) && (i < 3 || c < '0' || c > '9') && !(i > 2 && c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// interrupt reports whether an interrupt did what the line says, or its bottom half.
func (l *line) interrupt() bool {
	if len(l.flags) < 3 {
		return false
	}
	switch l.flags[2] {
	case 'h', 'H', 's', 'z', 'Z':
		return true
	}
	return false
}

// cutWord returns what stands before the next space, and what follows it.
func cutWord(b []byte) (word, rest []byte) {
	for i, c := range b {
		if c == ' ' || c == '\t' {
			return b[:i], b[i:]
		}
	}
	return b, nil
}

// parseTime reads seconds with at most nine decimals as nanoseconds.
func parseTime(b []byte) (ns int64, ok bool) {
	seconds, decimals, ok := bytes.Cut(b, []byte("."))
	const most = 9
	if !ok || len(seconds) > most+1 || len(decimals) > most {
		return 0, false
	}
	whole, ok := parseInt(seconds)
	part, ok2 := parseInt(decimals)
	const second = 1_000_000_000
	if !ok || !ok2 || whole >= math.MaxInt64/second {
		return 0, false
	}
	for range most - len(decimals) {
		part *= 10
	}
	return whole*second + part, true
}

// parseInt reads digits.
func parseInt(b []byte) (n int64, ok bool) {
	const most = 18
	if len(b) == 0 || len(b) > most {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// field returns the value of "key=value" in arguments, up to the next space.
func field(args []byte, key string) (value []byte, ok bool) {
	for rest := args; ; {
		i := bytes.Index(rest, []byte(key))
		if i < 0 {
			return nil, false
		}
		start := i == 0 || rest[i-1] == ' '
		rest = rest[i+len(key):]
		if start && len(rest) > 0 && rest[0] == '=' {
			value, _ = cutWord(rest[1:])
			return value, true
		}
	}
}

// number is field of a decimal or hexadecimal number.
func number(args []byte, key string) (n int64, ok bool) {
	value, ok := field(args, key)
	if !ok {
		return 0, false
	}
	if n, ok = parseInt(value); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(value), 0, 64)
	return n, err == nil
}

// comm returns what stands between two keys of arguments: a name, which may have spaces.
func comm(args []byte, from, to string) []byte {
	_, rest, ok := bytes.Cut(args, []byte(from))
	if i := bytes.LastIndex(rest, []byte(to)); ok && i >= 0 {
		return rest[:i]
	}
	return nil
}

// A switched is what sched_switch tells.
type switched struct {
	prev, next         int64
	prevComm, nextComm []byte
	state              []byte
}

// parseSwitch reads the arguments of sched_switch as the kernel and as trace-cmd print them:
//
//	prev_comm=xz prev_pid=12 prev_prio=120 prev_state=R+ ==> next_comm=swapper/1 next_pid=0 next_prio=120
//	xz:12 [120] R ==> swapper/1:0 [120]
//
// trace-cmd report -R has no arrow and numbers as states.
func parseSwitch(args []byte) (s switched, ok bool) {
	if !bytes.HasPrefix(args, []byte("prev_comm=")) {
		prev, next, found := bytes.Cut(args, []byte(" ==> "))
		i := bytes.LastIndexByte(prev, ' ')
		if !found || i < 0 {
			return s, false
		}
		s.state = bytes.Map(pluginState, prev[i+1:])
		s.prevComm, s.prev, ok = parseNamed(prev[:i])
		if ok {
			s.nextComm, s.next, ok = parseNamed(next)
		}
		return s, ok
	}
	i := bytes.LastIndex(args, []byte(" next_comm="))
	if i < 0 {
		return s, false
	}
	prev, next := args[:i], args[i+1:]
	s.prevComm, s.nextComm = comm(prev, "prev_comm=", " prev_pid="), comm(next, "next_comm=", " next_pid=")
	s.state, ok = field(prev, "prev_state")
	prevOK, nextOK := false, false
	s.prev, prevOK = number(prev[len("prev_comm=")+len(s.prevComm):], "prev_pid")
	s.next, nextOK = number(next[len("next_comm=")+len(s.nextComm):], "next_pid")
	return s, ok && prevOK && nextOK && s.prev >= 0 && s.next >= 0
}

// pluginState is the letter of the kernel for one of trace-cmd, which before libtraceevent 1.8 has
// names of old kernels for the bits of idle and parked (plugin_sched_switch.c).
func pluginState(letter rune) rune {
	switch letter {
	case 'W':
		return 'I'
	case 'x':
		return 'P'
	}
	return letter
}

// parseNamed reads "my app:12 [120]".
func parseNamed(b []byte) (name []byte, tid int64, ok bool) {
	i := bytes.LastIndex(b, []byte(" ["))
	if i < 0 {
		return nil, 0, false
	}
	b = b[:i]
	if i = bytes.LastIndexByte(b, ':'); i < 0 {
		return nil, 0, false
	}
	tid, ok = parseInt(b[i+1:])
	return b[:i], tid, ok
}

// parseWoken reads the arguments of sched_waking and sched_wakeup: "comm=xz pid=12 prio=120 …",
// or as trace-cmd prints them: "xz:12 [120] CPU:001".
func parseWoken(args []byte) (name []byte, tid int64, ok bool) {
	if !bytes.HasPrefix(args, []byte("comm=")) {
		if i := bytes.LastIndexByte(args, ']'); i >= 0 {
			return parseNamed(args[:i+1])
		}
		return nil, 0, false
	}
	name = comm(args, "comm=", " pid=")
	tid, ok = number(args[len("comm=")+len(name):], "pid")
	return name, tid, ok && tid >= 0
}

// isEventName reports whether a word can be the name of an event of ftrace: perf puts its
// subsystem and a colon before it.
func isEventName(b []byte) bool {
	for _, c := range b {
		if c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') {
			return false
		}
	}
	return len(b) > 0
}

// recognised says what head has of ftrace: lines that are nothing else, all others.
func recognised(head input.Head) (e input.Evidence) {
	certain, header := 0, false
	for b := range head.Lines() {
		b = bytes.TrimRight(b, " \t")
		switch {
		case len(b) == 0:
			continue
		case b[0] == '#':
			header = header || bytes.HasPrefix(b, []byte("# tracer: "))
			continue
		}
		e.Seen++
		l, ok := parseLine(b)
		if !ok || !isEventName(l.event) && l.event != nil {
			continue
		}
		e.Known++
		if l.flags != nil || bytes.HasPrefix(bytes.TrimLeft(b, " "), []byte("<idle>-0 ")) || events[string(l.event)] != nil {
			certain++
		}
	}
	e.Is = header || certain > 0 && 2*e.Known >= e.Seen
	e.Why = "too many are others"
	if certain == 0 {
		e.Known = 0
	}
	return e
}
