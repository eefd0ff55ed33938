// Package ingest turns recordings of every supported format into Runs.
//
// The format of an input is told by its content, see [detect]. Each format has a
// reader, which fills a [run.Builder] while it reads: memory is bounded by the
// distinct stacks, not by the samples.
package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"profdiff/internal/callgrind"
	"profdiff/internal/perffile"
)

// A format is a kind of input.
type format uint8

//go:generate go -C ../tools tool stringer -type=format -linecomment -output=../ingest/format_string.go ../ingest
const (
	unknownFormat      format = iota // unknown
	perfDataFormat                   // perf.data
	reportSampleFormat               // simpleperf report-sample --protobuf
	reportTextFormat                 // simpleperf report-sample
	pprofFormat                      // pprof
	geckoFormat                      // Firefox Profiler JSON
	perfScriptFormat                 // perf script
	foldedFormat                     // folded stacks
	stackDumpFormat                  // Android stack dumps
	tombstoneFormat                  // Android tombstones in protobuf
	reportCSVFormat                  // simpleperf report --csv
	simpleperfStat                   // simpleperf stat --csv
	perfStatCSV                      // perf stat -x
	perfStatJSON                     // perf stat -j
	callgrindFormat                  // callgrind.out or cachegrind.out
)

// detect tells the format of an input by its content; the name does not matter. The
// error says what the input looks like.
func detect(src *source) (format, error) {
	if len(src.Head) == 0 {
		return unknownFormat, errors.New("is empty")
	}
	if f := sniff(src.Head); f != unknownFormat {
		return f, nil
	}
	return unknownFormat, fmt.Errorf("%s; profdiff reads %s", describe(src.Head), readFormats())
}

// readFormats lists what profdiff reads.
func readFormats() string {
	var names []string
	for f := perfDataFormat; f <= callgrindFormat; f++ {
		names = append(names, f.String())
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// sniff tells the format of an input that starts with head, uncompressed.
func sniff(head []byte) format {
	if perffile.IsPerfData(head) {
		return perfDataFormat
	}
	if bytes.HasPrefix(head, []byte(reportSampleMagic)) {
		return reportSampleFormat
	}
	if isPprof(head) {
		return pprofFormat
	}
	if isTombstoneProto(head) {
		return tombstoneFormat
	}
	if !isText(head) {
		return unknownFormat
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	first := firstLine(head)
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(first, " \t"), []byte("{")):
		return sniffJSON(head)
	case callgrind.Detect(head):
		return callgrindFormat
	case isSimpleperfStat(head):
		return simpleperfStat
	case isReportCSV(head):
		return reportCSVFormat
	case bytes.Equal(first, []byte("meta_info:")) || bytes.Equal(first, []byte("sample:")) || bytes.Equal(first, []byte("magic: "+reportSampleMagic)):
		return reportTextFormat
	case isStackDump(head):
		return stackDumpFormat
	case isPerfStat(head):
		return perfStatCSV
	case isPerfScript(head):
		return perfScriptFormat
	case isFolded(head):
		return foldedFormat
	}
	return unknownFormat
}

// firstLine is the first line that is neither empty nor a comment, as far as head has
// it.
func firstLine(head []byte) []byte {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			return line
		}
		head = rest
	}
	return nil
}

// isText reports whether head has no control characters that texts do not have. Names
// of functions may be no UTF-8.
func isText(head []byte) bool {
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' && c != 0x1b {
			return false
		}
	}
	return true
}

// profileFields are the wire types of the fields of message Profile in pprof's
// profile.proto: v varint, b bytes, p either (packed).
const profileFields = " bbbbbbvvvvbvpvv"

// isPprof reports whether head starts with fields of a pprof profile, among them a
// sample type. All that write them put those first.
func isPprof(head []byte) bool {
	c := protoCursor{data: head}
	typed := false
	for c.next() {
		if int(c.num) >= len(profileFields) {
			return false
		}
		const varint, bytesType = 0, 2
		switch want := profileFields[c.num]; {
		case want != 'v' && c.typ == bytesType:
		case want != 'b' && c.typ == varint:
		default:
			return false
		}
		if c.num != 1 { // not sample_type
			c.skip()
		} else {
			m := c.message()
			for m.next() {
				if m.num > 2 {
					return false
				}
				m.uint()
			}
			if m.err != nil && c.err == nil {
				return false
			}
			typed = typed || c.err == nil
		}
	}
	// A field that head cuts off is fine.
	return typed && (c.err == nil || len(head) >= headSize)
}

// sniffJSON tells apart JSON by its keys.
func sniffJSON(head []byte) format {
	switch keys := topKeys(head); {
	case keys["counter-value"] || keys["event"] && keys["event-runtime"] || keys["metric-value"] && keys["metric-unit"]:
		return perfStatJSON
	case keys["traceEvents"] || keys["nodes"] || keys["$schema"]:
		return unknownFormat
	case keys["threads"] || keys["libs"] || keys["counters"] || keys["profilerOverhead"] || keys["pausedRanges"]:
		return geckoFormat
	case keys["meta"] && !keys["profile"]:
		return geckoFormat
	}
	return unknownFormat
}

// topKeys are the keys of the first object in head, as far as it goes.
func topKeys(head []byte) map[string]bool {
	if i := bytes.IndexByte(head, '{'); i > 0 { // behind comments
		head = head[i:]
	}
	keys := make(map[string]bool)
	dec := json.NewDecoder(bytes.NewReader(head))
	depth, isKey := 0, false
	for {
		t, err := dec.Token()
		if err != nil {
			break
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			if depth--; depth == 0 {
				return keys
			}
			isKey = depth == 1
			continue
		}
		if depth != 1 {
			continue
		}
		if key, ok := t.(string); ok && isKey {
			keys[key] = true
			isKey = false
		} else {
			isKey = true
		}
	}
	return keys
}

// isReportCSV reports whether a table of simpleperf report --csv is in head, behind
// lines "Key: value".
func isReportCSV(head []byte) bool {
	for line := range headLines(head) {
		if isReportHeader(line) {
			return true
		}
		if len(bytes.TrimSpace(line)) > 0 && (line[0] == ' ' || line[0] == '\t' || !bytes.Contains(line, []byte(": "))) {
			return false
		}
	}
	return false
}

// isPerfScript reports whether head has a sample of perf script: a line with time and
// event or with a frame, or, below a line of its own, a frame.
func isPerfScript(head []byte) bool {
	below := false // a line that may start a sample was above
	for line := range headLines(head) {
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

// isFolded reports whether all lines of head end with a weight.
func isFolded(head []byte) bool {
	n := 0
	for line := range headLines(head) {
		line = bytes.TrimRight(line, " ")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		i := bytes.LastIndexAny(line, " \t")
		if i <= 0 || !isNumber(line[i+1:]) && !isExponent(line[i+1:]) {
			return false
		}
		n++
	}
	// Not even the first line may have an end in head.
	return n > 0 || len(head) >= headSize-8 && bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, ';') >= 0
}

func isExponent(b []byte) bool {
	mantissa, exponent, ok := bytes.Cut(bytes.ToLower(b), []byte("e"))
	return ok && isNumber(mantissa) && isDigits(bytes.TrimLeft(exponent, "+-"))
}

// describe says what an input of no known format looks like.
func describe(head []byte) string {
	for _, m := range []struct{ magic, what string }{
		{"\x7fELF", "looks like an ELF binary"},
		{"PK\x03\x04", "looks like a zip archive"},
		{"\xfd7zXZ\x00", "is compressed with xz: decompress it first"},
		{"\x28\xb5\x2f\xfd", "is compressed with zstd: decompress it first"},
		{"BZh", "is compressed with bzip2: decompress it first"},
		{"\xff\xfe", "looks like text in UTF-16: convert it to UTF-8"},
		{"\xfe\xff", "looks like text in UTF-16: convert it to UTF-8"},
		{"\xcf\xfa\xed\xfe", "looks like a Mach-O binary"},
		{"MZ", "looks like a Windows binary"},
		{"#!", "looks like a script"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.what
		}
	}
	if !isText(head) {
		return "looks like binary data of an unknown format"
	}
	start := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	switch lower := bytes.ToLower(start[:min(len(start), 32)]); {
	case len(start) == 0:
		return "has nothing but white space"
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")):
		return "looks like HTML"
	case bytes.HasPrefix(lower, []byte("<?xml")), bytes.HasPrefix(lower, []byte("<svg")):
		return "looks like XML"
	case lower[0] == '{' || lower[0] == '[':
		return "looks like JSON of another kind" + jsonKind(start)
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	if !utf8.Valid(line) {
		line = []byte(text(line))
	}
	return fmt.Sprintf("looks like text of an unknown format, which starts %q", clip(bytes.TrimSpace(line)))
}

// jsonKind names JSON that profilers write but profdiff does not read.
func jsonKind(start []byte) string {
	switch keys := topKeys(start); {
	case keys["traceEvents"]:
		return " (a trace of Chrome)"
	case keys["nodes"]:
		return " (a profile of V8)"
	case bytes.Contains(start[:min(len(start), 4096)], []byte("speedscope")):
		return " (a profile of speedscope)"
	}
	return ""
}
