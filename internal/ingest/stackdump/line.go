package stackdump

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// Lines between the parts of dumps.
const (
	// tombstoneRule starts a tombstone, threadRule stands between its threads.
	tombstoneRule = "*** *** *** *** "
	threadRule    = "--- --- --- --- "
)

// Lines of logcat, in its formats brief and time, and as Android Studio shows them: when,
// where, level, tag, message. cutThreadTime reads the format threadtime, which most have.
var (
	logTime     = `(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?: [+-]\d{4})?:?\s+`
	timeOfLog   = regexp.MustCompile(`^` + logTime)
	logBrief    = regexp.MustCompile(`^(?:` + logTime + `(?:\S+\s+){0,2}?)?[VDIWEFA]/(\S*?)\s*(?:\(\s*\d+\))?:(?: (.*))?$`)
	logOfStudio = regexp.MustCompile(`^` + logTime + `\d+-\d+\s+(\S+)\s+\S+\s+[VDIWEFA](?:\s+(.*))?$`)
)

// Tags of the log: logTag has tombstones.
const (
	logTag      = "DEBUG"
	watchdogTag = "Watchdog"
)

// cutLog cuts what logcat prints in front of a message off a line.
func cutLog(line []byte) (tag, message []byte, ok bool) {
	if len(line) < len("F A:") || !isLevel(line[0]) && !isDigit(line[0]) || isLevel(line[0]) && line[1] != ' ' && line[1] != '/' {
		return nil, nil, false
	}
	if tag, message, ok = cutThreadTime(line); ok {
		return tag, bytes.TrimSpace(message), true
	}
	for _, form := range []*regexp.Regexp{logBrief, logOfStudio} {
		if m := form.FindSubmatch(line); m != nil {
			return m[1], bytes.TrimSpace(m[2]), true
		}
	}
	return nil, nil, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLevel reports whether c is the level of a line of a log.
func isLevel(c byte) bool {
	switch c {
	case 'V', 'D', 'I', 'W', 'E', 'F', 'A':
		return true
	}
	return false
}

// cutThreadTime is cutLog for the format threadtime, in which up to three fields, the user, the
// process and the thread, are between the time and the level; or all of them are cut off.
//
//	07-27 17:42:46.314  4171 18233 F DEBUG   : message
func cutThreadTime(line []byte) (tag, message []byte, ok bool) {
	if isLevel(line[0]) {
		return cutTag(line)
	}
	rest := line[cutTime(line):]
	if len(rest) == len(line) {
		return nil, nil, false
	}
	for range 4 {
		if tag, message, ok = cutTag(rest); ok {
			return tag, message, true
		}
		i := indexSpace(rest)
		rest = bytes.TrimLeft(rest[i:], logSpace)
	}
	return nil, nil, false
}

// logSpace is what counts as white space in a line of a log.
const logSpace = " \t\n\f\r"

func indexSpace(b []byte) int {
	if i := bytes.IndexAny(b, logSpace); i >= 0 {
		return i
	}
	return len(b)
}

// cutTime returns where in a line of a log what follows the time begins, 0 if there is none.
// It knows the common form of logTime itself.
func cutTime(line []byte) int {
	const form = "00-00 00:00:00.000"
	if len(line) <= len(form) {
		return 0
	}
	for i := range len(form) {
		if c := form[i]; c == '0' && !isDigit(line[i]) || c != '0' && line[i] != c {
			return len(timeOfLog.Find(line))
		}
	}
	end := len(form)
	for end < len(line) && isDigit(line[end]) {
		end++
	}
	rest := bytes.TrimLeft(line[end:], logSpace)
	if len(rest) == len(line)-end || len(rest) == 0 || rest[0] == '+' || rest[0] == '-' {
		return len(timeOfLog.Find(line))
	}
	return len(line) - len(rest)
}

// cutTag cuts the level and the tag off a line of a log: "F DEBUG   : message".
func cutTag(b []byte) (tag, message []byte, ok bool) {
	if len(b) < len("F :") || !isLevel(b[0]) || b[1] != ' ' {
		return nil, nil, false
	}
	b = b[2:]
	end := indexSpace(b)
	tag = b[:end]
	rest, found := bytes.CutPrefix(bytes.TrimLeft(b[end:], logSpace), []byte(":"))
	if !found || len(rest) > 0 && rest[0] != ' ' {
		if tag, found = bytes.CutSuffix(tag, []byte(":")); !found || end < len(b) && b[end] != ' ' {
			return nil, nil, false
		}
		rest = b[end:]
	}
	return tag, bytes.TrimPrefix(rest, []byte(" ")), true
}

// Recognise tells a dump by a line that no other text has.
func Recognise(head input.Head) input.Evidence {
	return input.Evidence{Is: isStackDump(head)}
}

// isStackDump reports whether head has the first line of a dump or of one of its
// threads, or a native frame, or is a log, which may have them later. Dumps for ANRs have
// other lines above them.
func isStackDump(head input.Head) bool {
	for line := range head.Lines() {
		line = bytes.TrimSpace(line)
		if tag, message, ok := cutLog(line); ok {
			if input.IsDigits(line[:1]) {
				return true
			}
			if string(tag) == logTag {
				line = message
			}
		}
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case '-', '*', 'p', '"', 'n', '#':
		default:
			continue
		}
		if _, ok := parseThread(line); ok {
			return true
		}
		if _, ok := parseTombstoneThread(line); ok {
			return true
		}
		if _, _, ok := parseHeader(line); ok || bytes.HasPrefix(line, []byte(tombstoneRule)) {
			return true
		}
		if _, _, ok := cutFrameNumber(bytes.TrimPrefix(line, []byte("native: "))); ok {
			return true
		}
	}
	return false
}

// threadHeader is what the line above a thread's stack tells.
type threadHeader struct {
	name, state string
	tid         int64
	number      int64   // by which ART knows it, 0 if unknown
	process     process // of tombstones
	short       bool    // another one of the same thread may follow
}

// parseThread reads the line above a thread of ART or of debuggerd -b:
//
//	"main" prio=5 tid=1 Native
//	"Signal Catcher" daemon prio=10 tid=6 Runnable (still starting up)
//	"RenderThread" prio=7 (not attached)
//	"Binder:653_17" sysTid=3212
//	"main" tid=1 Native
//
// The last is how the Play Console shows them.
// The tid of ART is no thread of the kernel.
func parseThread(line []byte) (h threadHeader, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`"`))
	if !ok {
		return h, false
	}
	for _, key := range []string{`" prio=`, `" daemon prio=`, `" sysTid=`, `" tid=`} {
		name, fields, ok := cutLast(rest, key)
		if !ok {
			continue
		}
		first, fields, _ := bytes.Cut(fields, []byte(" "))
		id, ok := parseID(first)
		if !ok {
			continue
		}
		h = threadHeader{name: input.Text(name), tid: -1}
		if key == `" sysTid=` {
			h.tid = id
			return h, true
		}
		if h.short = key == `" tid=`; h.short {
			h.number = id
		}
		if after, ok := bytes.CutPrefix(fields, []byte("tid=")); ok {
			first, fields, _ = bytes.Cut(after, []byte(" "))
			h.number, _ = parseID(first)
			fields, _, _ = bytes.Cut(fields, []byte(" ("))
		}
		h.state = input.Text(bytes.Trim(fields, "()"))
		return h, true
	}
	return h, false
}

// parseTombstoneThread reads the line above a thread of a tombstone:
//
//	pid: 718, tid: 721, name: Binder:718_1  >>> zygote64 <<<
func parseTombstoneThread(line []byte) (h threadHeader, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("pid: "))
	if !ok {
		return h, false
	}
	pid, rest, _ := bytes.Cut(rest, []byte(", tid: "))
	rest, process, ok := cutLast(rest, "  >>> ")
	if !ok {
		return h, false
	}
	tid, name, _ := bytes.Cut(rest, []byte(", name: "))
	if h.process.pid, ok = parseID(pid); !ok {
		return h, false
	}
	if h.tid, ok = parseID(tid); !ok {
		return h, false
	}
	h.name = input.Text(name)
	h.process.name = commandName(bytes.TrimSuffix(process, []byte(" <<<")))
	return h, true
}

// parseHeader reads the line above a process:
//
//	----- pid 15609 at 2022-01-01 12:00:00.123456789+0000 -----
func parseHeader(line []byte) (pid int64, at []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("----- pid "))
	if !ok {
		return 0, nil, false
	}
	id, at, ok := bytes.Cut(rest, []byte(" at "))
	if !ok {
		return 0, nil, false
	}
	pid, ok = parseID(id)
	return pid, bytes.TrimSpace(bytes.TrimRight(at, "-")), ok
}

// commandName is the name of a process from its command line.
func commandName(b []byte) string {
	name, _, _ := strings.Cut(input.Text(b), " ")
	return name[strings.LastIndexByte(name, '/')+1:]
}

// parseID reads the number of a process or a thread.
func parseID(b []byte) (int64, bool) {
	if !input.IsDigits(b) {
		return 0, false
	}
	id, err := strconv.ParseInt(string(b), 10, 32)
	return id, err == nil
}

// cutLast is bytes.Cut around the last separator.
func cutLast(b []byte, sep string) (before, after []byte, ok bool) {
	i := bytes.LastIndex(b, []byte(sep))
	if i < 0 {
		return b, nil, false
	}
	return b[:i], b[i+len(sep):], true
}

// archOfABI is what uname -m prints on a device with an ABI of Android.
func archOfABI(abi string) string {
	switch abi {
	case "arm64", "arm64-v8a":
		return "aarch64"
	case "x86":
		return "i686"
	}
	return abi
}

// cutFrameNumber cuts "#04 pc " off a native frame.
func cutFrameNumber(line []byte) (number int, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(line, []byte("#"))
	if !ok {
		return 0, nil, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(" "))
	const most = 6 // digits
	if !ok || !input.IsDigits(digits) || len(digits) > most {
		return 0, nil, false
	}
	if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("pc ")); !ok {
		return 0, nil, false
	}
	number, err := strconv.Atoi(string(digits))
	return number, bytes.TrimLeft(rest, " "), err == nil
}

// A nativeFrame is a frame as libunwindstack and ART print it.
type nativeFrame struct {
	pc uint64 // address in the ELF file, of the call
	// file is the path of the file, [anon:NAME], or "" if the address is in none.
	// offset is where in the file the ELF file starts, such as a library in an APK.
	file    string
	offset  uint64
	name    string // "" if unknown
	cut     bool   // the end of the line is missing
	buildID string
}

// parseNativeFrame reads what follows the number of a frame:
//
//	000000000009ad68  /system/lib64/libc.so (__ioctl+8) (BuildId: cd95…)
//	00984478  /data/app/x/base.apk!libx.so (offset 0x9c0000) (x::f(int)+12)
//	00012345  /memfd:jit-cache (deleted) (offset 2000) (a.b.c+96)
//	00049794  <anonymous:7c3d2000> (???)
func parseNativeFrame(b []byte) (f nativeFrame, err error) {
	pc, rest, _ := bytes.Cut(b, []byte(" "))
	f.pc, err = strconv.ParseUint(strings.TrimPrefix(string(pc), "0x"), 16, 64)
	if err != nil {
		return f, fmt.Errorf("%q is no address", input.Clip(pc))
	}
	rest = bytes.TrimLeft(rest, " ")
	if before, id, ok := cutLast(rest, " (BuildId: "); ok {
		id, _ = bytes.CutSuffix(id, []byte(")"))
		if input.IsHex(id) {
			f.buildID, rest = string(id), before
		}
	}
	file, rest := cutFile(rest)
	if isKnownFile(file) {
		f.file = input.Text(file)
	}
	if after, ok := bytes.CutPrefix(rest, []byte("(offset ")); ok {
		offset, after, _ := bytes.Cut(after, []byte(")"))
		f.offset, err = strconv.ParseUint(strings.TrimPrefix(string(offset), "0x"), 16, 64)
		if err != nil {
			return f, fmt.Errorf("%q is no offset", input.Clip(offset))
		}
		rest = bytes.TrimLeft(after, " ")
	}
	f.name, f.cut = parseSymbol(rest)
	return f, nil
}

// cutFile cuts the file off the front of a frame. Its name may have spaces and,
// at its end, (deleted).
func cutFile(b []byte) (file, rest []byte) {
	end := 0
	if bytes.HasPrefix(b, []byte("[")) { // [anon:dalvik-main space (region space)]
		end = bytes.IndexByte(b, ']') + 1
	}
	i := bytes.Index(b[end:], []byte(" ("))
	if i < 0 {
		return b, nil
	}
	i += end
	if deleted := []byte(" (deleted)"); bytes.HasPrefix(b[i:], deleted) {
		i += len(deleted)
	}
	return b[:i], bytes.TrimLeft(b[i:], " ")
}

func isKnownFile(file []byte) bool {
	return len(file) > 0 && file[0] != '<' && !bytes.Equal(file, []byte("???"))
}

// parseSymbol reads "(name+offset)".
func parseSymbol(b []byte) (name string, cut bool) {
	b, ok := bytes.CutPrefix(b, []byte("("))
	if !ok {
		return "", false
	}
	if b, ok = bytes.CutSuffix(b, []byte(")")); ok {
		if before, offset, found := cutLast(b, "+"); found && len(before) > 0 && input.IsDigits(offset) {
			b = before
		}
	}
	if bytes.Equal(b, []byte("???")) {
		return "", !ok
	}
	return input.Text(b), !ok
}

// A javaFrame is a frame of Java code as ART prints it.
type javaFrame struct {
	class, method string
	file          string // "" if unknown
	line          int    // 0 if unknown
}

// parseJavaFrame reads what follows "at ":
//
//	android.os.MessageQueue.next(MessageQueue.java:335)
//	java.lang.Object.wait!(Native method)
//	android.os.MessageQueue.next (MessageQueue.java:335)
//
// The mark ! of Android 7 and 8 says that the method is called without a change of
// the thread's state. The space is of the Play Console.
func parseJavaFrame(b []byte) (f javaFrame, err error) {
	name, place, ok := cutLast(b, "(")
	class, method, dotted := cutLast(bytes.TrimSuffix(bytes.TrimRight(name, " "), []byte("!")), ".")
	if place, closed := bytes.CutSuffix(place, []byte(")")); ok && closed && dotted && len(class) > 0 && len(method) > 0 {
		f = javaFrame{class: input.Text(class), method: input.Text(method)}
		file, line, _ := cutLast(place, ":")
		switch string(file) {
		case "Native method", "Native Method", "Unknown Source", "unavailable", "SourceFile": // the last is what R8 leaves
		default:
			f.file = input.Text(file)
		}
		if n, ok := parseID(line); ok {
			f.line = int(n)
		}
		return f, nil
	}
	return f, fmt.Errorf("%q is no Java frame", input.Clip(b))
}

// parseKernelFrame reads what follows "kernel: ": [<0>] SyS_renameat2+0x178/0x3b4 [ext4].
// It returns false for other lines, such as that there is no stack.
func parseKernelFrame(b []byte) (name, module string, ok bool) {
	if after, found := bytes.CutPrefix(b, []byte("[<")); found {
		_, b, _ = bytes.Cut(after, []byte("] "))
	}
	symbol, rest, found := bytes.Cut(b, []byte("+0x"))
	if !found || len(symbol) == 0 || bytes.ContainsAny(symbol, " (") {
		return "", "", false
	}
	_, rest, _ = bytes.Cut(rest, []byte(" ["))
	if rest, found = bytes.CutSuffix(rest, []byte("]")); found {
		module = input.Text(rest)
	}
	return input.Text(symbol), module, true
}
