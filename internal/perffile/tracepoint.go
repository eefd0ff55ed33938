package perffile

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Tracepoint is how the raw data of a tracepoint's samples are laid out, as the kernel of the
// recording prints it in a file format (Documentation/trace/events.rst, Event formats).
type Tracepoint struct {
	System, Name string // sched, sched_switch
	Fields       []TracepointField
}

// A TracepointField is a field in raw data.
type TracepointField struct {
	Name         string
	Offset, Size int
	Signed       bool
	bigEndian    bool
}

// Tracepoint returns the layout of the raw data of an event's samples, nil if the recording
// does not tell it.
func (f *File) Tracepoint(a *Attr) *Tracepoint {
	if a.Type != TypeTracepoint {
		return nil
	}
	if f.formats == nil {
		data, err := f.TracingData()
		if data == nil || err != nil {
			return nil
		}
		c := fieldReader{data: data, section: "tracing data", big: f.BigEndian}
		f.formats = c.formats()
	}
	format, ok := f.formats[a.Config]
	if !ok {
		return nil
	}
	t := &Tracepoint{System: format.system, Name: formatLine(format.text, "name: ")}
	for line := range bytes.Lines(format.text) {
		if field, ok := tracepointField(string(line)); ok {
			field.bigEndian = f.BigEndian
			t.Fields = append(t.Fields, field)
		}
	}
	return t
}

// allCPUs is an option of perf record for the whole system, alone or behind others without a value.
var allCPUs = regexp.MustCompile(`^(--all-cpus|-[gRqvnNTdsPWASK]*a[gRqvnNTdsPWASK]*)$`)

// SystemWide reports whether an event was recorded on all CPUs, whatever ran there, as far as its flags and the
// command line of perf tell: perf sched record always does.
func (f *File) SystemWide(a *Attr) bool {
	words := f.Info.Cmdline
	if len(words) < 2 || a.Flags.Has(FlagEnableOnExec) {
		return false
	}
	return words[1] == "sched" || slices.ContainsFunc(words[1:], allCPUs.MatchString)
}

// Field finds a field by its name.
func (t *Tracepoint) Field(name string) (TracepointField, bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return TracepointField{}, false
}

// Int is the value of a field of 1, 2, 4 or 8 bytes; ok is false if the raw data lack it.
func (f TracepointField) Int(raw []byte) (v int64, ok bool) {
	if f.Offset < 0 || f.Size < 0 || f.Offset > len(raw) || f.Size > len(raw)-f.Offset {
		return 0, false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if f.bigEndian {
		order = binary.BigEndian
	}
	b := raw[f.Offset : f.Offset+f.Size]
	switch f.Size {
	case 1:
		v = int64(b[0])
	case 2:
		v = int64(order.Uint16(b))
	case 4:
		v = int64(order.Uint32(b))
	case 8:
		return int64(order.Uint64(b)), true
	default:
		return 0, false
	}
	if unused := 64 - 8*f.Size; f.Signed {
		v = v << unused >> unused
	}
	return v, true
}

// A tracepointFormat is the file format of a tracepoint.
type tracepointFormat struct {
	system string
	text   []byte
}

// formats finds the formats of tracepoints by their IDs, as far as they can be read, in tracing
// data: magic, version, byte order, sizes of long and page, the formats of pages and of ftrace's
// own events, then those of each system. Must match tools/perf/util/trace-event-read.c.
func (c *fieldReader) formats() map[uint64]tracepointFormat {
	found := make(map[uint64]tracepointFormat)
	if !bytes.Equal(c.bytes(10), []byte("\x17\x08\x44tracing")) {
		return found
	}
	c.cstring()
	c.skip(1 + 1 + 4)
	for range 2 { // header_page, header_event
		c.cstring()
		c.skip(c.u64())
	}
	for n := c.u32(); n > 0 && c.err == nil; n-- {
		c.skip(c.u64())
	}
	for systems := c.u32(); systems > 0 && c.err == nil; systems-- {
		system := string(c.cstring())
		for n := c.u32(); n > 0 && c.err == nil; n-- {
			text := c.bytes(c.u64())
			if id, err := strconv.ParseUint(formatLine(text, "ID: "), 10, 64); err == nil {
				found[id] = tracepointFormat{system, text}
			}
		}
	}
	return found
}

// formatLine is the rest of the line that starts so, "" if there is none.
func formatLine(text []byte, start string) string {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(start)); ok {
			return string(bytes.TrimSpace(rest))
		}
	}
	return ""
}

// tracepointField reads a line such as
//
//	field:char comm[16];	offset:8;	size:16;	signed:0;
func tracepointField(line string) (f TracepointField, ok bool) {
	for part := range strings.SplitSeq(strings.TrimSpace(line), ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		var err error
		switch key {
		case "field":
			value, _, _ = strings.Cut(value, "[")
			f.Name, ok = value[strings.LastIndexAny(value, " *")+1:], true
		case "offset":
			f.Offset, err = strconv.Atoi(value)
		case "size":
			f.Size, err = strconv.Atoi(value)
		case "signed":
			f.Signed = value == "1"
		}
		if err != nil {
			return TracepointField{}, false
		}
	}
	return f, ok
}
