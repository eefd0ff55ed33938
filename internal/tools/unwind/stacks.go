package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"profdiff/internal/perfsession"
)

// A sampleKey tells samples apart.
type sampleKey struct {
	tid  int32
	time uint64
}

// A frame is a place in a file. Memory that is no file has the name anon, and addresses.
type frame struct {
	file string
	off  uint64
	name string // perf's, for people
}

func (f frame) same(g frame) bool { return f.file == g.file && f.off == g.off }

// A stack is the user frames of a sample, leaf first.
type stack struct {
	frames []frame
	// fake is set if perf added a root that is none.
	fake bool
}

func (s *stack) String() string {
	var b strings.Builder
	for _, f := range s.frames {
		fmt.Fprintf(&b, "      %x %s (%s)\n", f.off, f.name, f.file)
	}
	return b.String()
}

const anon = "anon"

// frameOf is what profdiff knows of a frame, as perf prints it.
func frameOf(f perfsession.Frame) frame {
	if f.Map == nil {
		return frame{file: "?", off: f.Addr}
	}
	if file := fileOf(f.Map.DSO.Path); file != anon {
		return frame{file: file, off: f.Addr - f.Map.Start + f.Map.PgOff}
	}
	return frame{file: anon, off: f.Addr}
}

var perfMap = regexp.MustCompile(`^/tmp/perf-\d+\.map$`)

func fileOf(path string) string {
	if path == perfsession.AnonPath || perfMap.MatchString(path) || path == "[heap]" || path == "[stack]" {
		return anon
	}
	return path
}

var (
	head = regexp.MustCompile(`\s(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s*$`)
	line = regexp.MustCompile(`^\s+([0-9a-f]+) (.*?) \((\S*(?: \(deleted\))?)\)$`)
)

// readScript reads what perf script prints.
func readScript(r io.Reader) (map[sampleKey]*stack, error) {
	list := make(map[sampleKey]*stack)
	var s *stack
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		text := in.Text()
		if m := head.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text, "\t") {
			tid, _ := strconv.ParseInt(m[2], 10, 32)
			time, err := strconv.ParseUint(m[3]+m[4], 10, 64)
			if err != nil {
				return nil, err
			}
			s = new(stack)
			list[sampleKey{int32(tid), time}] = s
			continue
		}
		if text == "" {
			s = nil
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil || s == nil {
			return nil, fmt.Errorf("perf script printed %q", text)
		}
		ip, err := strconv.ParseUint(m[1], 16, 64)
		switch {
		case err != nil:
			return nil, err
		case ip == 1<<64-1:
			s.fake = true
		case ip>>63 == 0:
			file := fileOf(m[3])
			if file == "[unknown]" {
				file = "?"
			}
			s.frames = append(s.frames, frame{file: file, off: ip, name: m[2]})
		}
	}
	return list, in.Err()
}

// classify says how two stacks of one sample differ, and who is right.
func classify(ours, theirs *stack, why perfsession.StackEndReason) class {
	a, b := ours.frames, theirs.frames
	n := 0
	for n < len(a) && n < len(b) && a[n].same(b[n]) {
		n++
	}
	switch {
	case n == len(a) && n == len(b):
		return equal(theirs, why)
	case n == len(b) && n == 0:
		return class{name: "perf has no frame (right: profdiff)", right: true}
	case n == len(b):
		return longer(a, n, why)
	case n == len(a):
		return class{name: "shorter, " + reasons[why]}
	case n == 0:
		return class{name: "another leaf"}
	case within(b, a) && why <= perfsession.StackCut:
		return class{name: "more callers than perf, which skips those of code without tables (right: profdiff)", right: true}
	}
	return class{name: fmt.Sprintf("other callers of %s", where(a[n-1]))}
}

// within reports whether the frames of a are all among those of b, in their order.
func within(a, b []frame) bool {
	for _, f := range b {
		if len(a) > 0 && a[0].same(f) {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// equal is the class of stacks of the same frames.
func equal(theirs *stack, why perfsession.StackEndReason) class {
	switch {
	case why == perfsession.StackWhole && theirs.fake:
		return class{name: "equal, whole; perf adds ffffffffffffffff (right: profdiff, there is no caller of the last)", right: true}
	case why == perfsession.StackWhole:
		return class{name: "equal, whole", right: true}
	case why == perfsession.StackCut && theirs.fake:
		return class{name: "equal, cut off; perf adds ffffffffffffffff (right: profdiff)", right: true}
	case theirs.fake:
		return class{name: "equal, " + reasons[why] + "; perf adds ffffffffffffffff", right: true}
	}
	return class{name: "equal, " + reasons[why], right: true}
}

// longer is the class of stacks that go on where perf's end, which has n frames.
func longer(ours []frame, n int, why perfsession.StackEndReason) class {
	at := where(ours[n-1])
	switch why {
	case perfsession.StackWhole:
		return class{name: "longer, whole; perf ends in " + at + " (right: profdiff)", right: true}
	case perfsession.StackCut:
		return class{name: "longer, cut off; perf ends in " + at + " (right: profdiff)", right: true}
	}
	return class{name: "longer, " + reasons[why] + "; perf ends in " + at}
}

// where is a kind of code.
func where(f frame) string {
	switch {
	case f.file == anon:
		return "code of a JIT compiler"
	case f.file == "?":
		return "no mapping"
	}
	return f.file[strings.LastIndexByte(f.file, '/')+1:]
}
