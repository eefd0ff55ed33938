package input

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Format is one line of a table of formats. R is the type of what reads it.
type Format[R any] struct {
	// Name is what the format is called in messages.
	Name string
	// Text is set if the format is text: then Recognise sees nothing else.
	Text bool
	// Recognise says how much of the start of an input is of the format.
	Recognise func(Head) Evidence
	// Read reads the format.
	Read R
}

// Evidence is what a recogniser found.
type Evidence struct {
	// Is reports whether the input is of the format. That takes something that no
	// other text or data has.
	Is bool
	// Known is how many lines are of the format, of Seen lines that were looked at.
	Known, Seen int
	// Why says what speaks against the format where there are such lines.
	Why string
}

// A Table has the formats that a program reads. Where two recognise an input, the first
// one reads it.
type Table[R any] []Format[R]

// Names lists the formats of a table.
func (t Table[R]) Names() (names []string) {
	for i := range t {
		names = append(names, t[i].Name)
	}
	return names
}

// Detect tells the format of an input by its content; the name does not matter. The
// error says what the input looks like, which formats came closest, and which there are.
func (t Table[R]) Detect(head Head) (*Format[R], error) {
	isText := head.IsText()
	var all []Rival
	for i := range t {
		r := Rival{Name: t[i].Name}
		if len(head) > 0 && (!t[i].Text || isText) {
			r.Evidence = t[i].Recognise(head)
		}
		if r.Is {
			return &t[i], nil
		}
		all = append(all, r)
	}
	return nil, &UnknownError{head, all}
}

// An UnknownError says that an input is of none of the formats of a table.
type UnknownError struct {
	head   Head
	Rivals []Rival
}

// A Rival is a format that an input is not of, and what speaks for it nevertheless.
type Rival struct {
	Name string
	Evidence
}

// Join says that an input is of none of the formats of two tables, of which some may be in both.
func (e *UnknownError) Join(other *UnknownError) *UnknownError {
	all := slices.Clone(e.Rivals)
	for _, r := range other.Rivals {
		if !slices.ContainsFunc(all, func(known Rival) bool { return known.Name == r.Name }) {
			all = append(all, r)
		}
	}
	return &UnknownError{e.head, all}
}

func (e *UnknownError) Error() string {
	if len(e.head) == 0 {
		return "is empty"
	}
	if what := picture(e.head); what != "" {
		return what
	}
	return fmt.Sprintf("%s%s; profdiff reads %s", describe(e.head), e.closest(), e.names())
}

// picture tells of what was drawn or summed up of a recording, and how to get what it was made of; "" for all else.
func picture(head Head) string {
	start := bytes.TrimSpace(head.text())
	lower := bytes.ToLower(start[:min(len(start), 32)])
	page := bytes.HasPrefix(lower, []byte("<!doctype html")) || bytes.HasPrefix(lower, []byte("<html"))
	switch {
	case page && bytes.Contains(head, []byte("async-profiler")):
		return "is a picture that async-profiler made of a recording: have it write -o jfr or -o collapsed"
	case bytes.HasPrefix(start, []byte("--- Execution profile ---")):
		return "is async-profiler's summary of a recording: have it write -o jfr or -o collapsed"
	case isTextOfGo(start):
		return "is a profile of Go as text, for people: take it without ?debug=1, or by WriteTo with debug 0"
	case bytes.HasPrefix(start, []byte("heap profile: ")):
		return "is a heap profile of tcmalloc, which has addresses and no names: go tool pprof -proto PROGRAM FILE > heap.pb.gz writes one that has both"
	case bytes.HasPrefix(start, []byte("heap_v2/")):
		return "is a heap profile of jemalloc, which has addresses and no names: jeprof --collapsed PROGRAM FILE > heap.folded writes stacks of names"
	case bytes.Contains(start[:min(len(start), 4096)], []byte("<svg")) && bytes.Contains(head, []byte("Flame Graph")):
		return "is a picture of a flame graph: give the recording or the folded stacks that it was made of"
	}
	return ""
}

// isTextOfGo tells what runtime/pprof of Go writes with debug=1: names stand behind a # in the lines below addresses.
func isTextOfGo(start Head) bool {
	named := bytes.Contains(start, []byte("\n#\t0x"))
	for _, head := range []string{"heap profile: ", "--- mutex:", "--- contention:", "goroutine profile: total ", "threadcreate profile: total "} {
		if named && bytes.HasPrefix(start, []byte(head)) {
			return true
		}
	}
	return false
}

// closest says which formats came closest, and why they are not it.
func (e *UnknownError) closest() string {
	const most = 2
	order := slices.DeleteFunc(slices.Clone(e.Rivals), func(r Rival) bool { return r.Known == 0 || r.Why == "" })
	slices.SortStableFunc(order, func(a, b Rival) int { return cmp.Compare(b.Known*a.Seen, a.Known*b.Seen) })
	var list []string
	for _, r := range order[:min(len(order), most)] {
		list = append(list, fmt.Sprintf("%s (%d of %d lines, but %s)", r.Name, r.Known, r.Seen, r.Why))
	}
	if len(list) == 0 {
		return ""
	}
	return ", closest to " + strings.Join(list, " and ")
}

// mostNames is how many formats are named in a message.
const mostNames = 6

// names lists what is read: of many formats the first ones, and which command lists all.
func (e *UnknownError) names() string {
	var names []string
	for _, r := range e.Rivals {
		names = append(names, r.Name)
	}
	switch n := len(names); {
	case n > mostNames:
		return fmt.Sprintf("%s and %d more formats, which profdiff help show lists", strings.Join(names[:mostNames-2], ", "), n-mostNames+2)
	case n < 2:
		return strings.Join(names, "")
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// describe says what an input of no known format looks like.
func describe(head Head) string {
	for _, m := range []struct{ magic, what string }{
		{"\x7fELF", "looks like an ELF binary"},
		{"PK\x03\x04", "looks like a zip archive"},
		{"\x1f\x8b", "is compressed twice: decompress it first"},
		{"\xfd7zXZ\x00", "is compressed twice: decompress it first"},
		{"\x28\xb5\x2f\xfd", "is compressed twice: decompress it first"},
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
	if !head.IsText() {
		return "looks like binary data of an unknown format"
	}
	start := bytes.TrimSpace(head.text())
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
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	return fmt.Sprintf("looks like text of an unknown format, which starts %q", Clip(bytes.TrimSpace(line)))
}

// jsonKind names JSON that profilers write but profdiff does not read.
func jsonKind(start Head) string {
	switch keys := start.Keys(); {
	case keys["traceEvents"]:
		return " (a trace of Chrome)"
	case keys["nodes"]:
		return " (a profile of V8)"
	case bytes.Contains(start[:min(len(start), 4096)], []byte("speedscope")):
		return " (a profile of speedscope)"
	}
	return ""
}
