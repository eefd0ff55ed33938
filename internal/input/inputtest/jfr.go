package inputtest

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// jfr is a recording of Java Flight Recorder: chunks of a header, metadata that says what events and constants
// consist of, constants and samples (JDK's JfrChunkHeader and Checkpoint; https://www.morling.dev/jfr-file-reader has
// the format in words).
func (m *maker) jfr() (b []byte) {
	for range 1 + m.rng.IntN(3) {
		b = append(b, m.chunk()...)
	}
	return b
}

// int appends an integer of JFR, which is one of protobuf up to 2^56.
func (m *maker) int(b []byte, v uint64) []byte {
	if v >= 1<<56 {
		for range 8 {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

// text appends a string of JFR in one of its encodings, of which some are of no string.
func (m *maker) text(b []byte, s string) []byte {
	encoding := byte(3)
	if !m.calm && m.rng.IntN(20) == 0 {
		encoding = byte(m.rng.IntN(7))
	}
	b = append(b, encoding)
	switch encoding {
	case 0, 1:
		return b
	case 2:
		return m.int(b, m.number())
	}
	return append(m.int(b, uint64(len(s))), s...)
}

// event is an event of a type. Its size takes four bytes, padded as the JDK pads it.
func (m *maker) event(typ uint64, body []byte) []byte {
	body = append(m.int(nil, typ), body...)
	size := uint64(4 + len(body))
	if !m.calm && m.rng.IntN(200) == 0 {
		size = m.number()
	}
	return append([]byte{byte(size) | 0x80, byte(size>>7) | 0x80, byte(size>>14) | 0x80, byte(size >> 21 & 0x7f)}, body...)
}

// A jfrClass is a class of the metadata, with its fields: name, class, and whether it is a constant.
type jfrClass struct {
	name   string
	fields [][3]string
}

// Numbers of classes are their places in this list, from 10.
var jfrClasses = []jfrClass{
	{"long", nil},
	{"int", nil},
	{"boolean", nil},
	{"java.lang.String", nil},
	{"jdk.types.Symbol", [][3]string{{"string", "13", ""}}},
	{"java.lang.Class", [][3]string{{"name", "14", "true"}}},
	{"jdk.types.Method", [][3]string{{"type", "15", "true"}, {"name", "14", "true"}, {"hidden", "12", ""}}},
	{"jdk.types.StackFrame", [][3]string{{"method", "16", "true"}, {"lineNumber", "11", ""}, {"type", "19", "true"}}},
	{"jdk.types.StackTrace", [][3]string{{"truncated", "12", ""}, {"frames", "17", "array"}}},
	{"jdk.types.FrameType", [][3]string{{"description", "13", ""}}},
	{"java.lang.Thread", [][3]string{{"osName", "13", ""}, {"osThreadId", "10", ""}, {"javaName", "13", ""}}},
	{"jdk.ExecutionSample", [][3]string{{"startTime", "10", ""}, {"sampledThread", "20", "true"}, {"stackTrace", "18", "true"}}},
	{"jdk.JavaMonitorEnter", [][3]string{{"startTime", "10", ""}, {"duration", "10", ""}, {"eventThread", "20", "true"}, {"stackTrace", "18", "true"}}},
	{"profiler.Malloc", [][3]string{{"startTime", "10", ""}, {"eventThread", "20", "true"}, {"stackTrace", "18", "true"}, {"address", "10", ""}, {"size", "10", ""}}},
}

const jfrFirst = 10

func (m *maker) jfrMetadata() []byte {
	var table []string
	at := make(map[string]uint64)
	var tree []byte
	word := func(s string) {
		if _, ok := at[s]; !ok {
			at[s] = uint64(len(table))
			table = append(table, s)
		}
		n := at[s]
		if !m.calm && m.rng.IntN(400) == 0 {
			n = m.number()
		}
		tree = m.int(tree, n)
	}
	// element starts an element, in which so many others stand.
	element := func(kind string, children int, attributes ...string) {
		word(kind)
		tree = m.int(tree, uint64(len(attributes)/2))
		for _, a := range attributes {
			word(a)
		}
		tree = m.int(tree, uint64(children))
	}
	element("root", 1)
	element("metadata", len(jfrClasses))
	for i, c := range jfrClasses {
		element("class", len(c.fields), "id", strconv.Itoa(jfrFirst+i), "name", c.name)
		for _, f := range c.fields {
			class := f[1]
			if !m.calm && m.rng.IntN(100) == 0 { // which may contain itself
				class = strconv.Itoa(jfrFirst + m.rng.IntN(len(jfrClasses)))
			}
			attributes := []string{"name", f[0], "class", class}
			switch f[2] {
			case "true":
				attributes = append(attributes, "constantPool", "true")
			case "array":
				attributes = append(attributes, "dimension", "1")
			}
			element("field", 0, attributes...)
		}
	}
	body := m.int(m.int(m.int(nil, 1), 1), 1)
	body = m.int(body, uint64(len(table)))
	for _, s := range table {
		body = m.text(body, s)
	}
	return m.event(0, append(body, tree...))
}

// jfrConstants are names, methods, stacks and threads, of which each may refer to what is not there.
func (m *maker) jfrConstants(n int) []byte {
	id := func() uint64 {
		if !m.calm && m.rng.IntN(50) == 0 {
			return m.number()
		}
		return uint64(1 + m.rng.IntN(n))
	}
	body := append(m.int(m.int(m.int(nil, 1), 1), 0), 0)
	pools := []struct {
		class int
		write func(b []byte) []byte
	}{
		{14, func(b []byte) []byte { return m.text(b, m.name()) }},
		{15, func(b []byte) []byte { return m.int(b, id()) }},
		{16, func(b []byte) []byte { return append(m.int(m.int(b, id()), id()), byte(m.rng.IntN(8)/7)) }},
		{18, func(b []byte) []byte {
			depth := m.n(20, 2000)
			b = m.int(append(b, byte(m.rng.IntN(2))), uint64(depth))
			for range depth {
				b = m.int(m.int(m.int(b, id()), m.number()>>33), id()%4)
			}
			return b
		}},
		{19, func(b []byte) []byte {
			return m.text(b, m.pick("Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", m.name()))
		}},
		{20, func(b []byte) []byte { return m.text(m.int(m.text(b, m.name()), m.number()), m.name()) }},
	}
	body = m.int(body, uint64(len(pools)))
	for _, p := range pools {
		body = m.int(m.int(body, uint64(p.class)), uint64(n))
		for i := range n {
			body = p.write(m.int(body, uint64(1+i)))
		}
	}
	return m.event(1, body)
}

func (m *maker) chunk() []byte {
	const headerSize = 68
	n := 1 + m.n(20, 200)
	b := make([]byte, headerSize)
	constants := len(b)
	b = append(b, m.jfrConstants(n)...)
	for range m.n(100, 5000) {
		thread, stack := uint64(1+m.rng.IntN(n)), uint64(1+m.rng.IntN(n))
		switch m.rng.IntN(3) {
		case 0:
			b = append(b, m.event(21, m.int(m.int(m.int(nil, m.number()), thread), stack))...)
		case 1:
			b = append(b, m.event(22, m.int(m.int(m.int(m.int(nil, m.number()), m.number()), thread), stack))...)
		default:
			b = append(b, m.event(23, m.int(m.int(m.int(m.int(m.int(nil, m.number()), thread), stack), m.number()), m.number()))...)
		}
	}
	metadata := len(b)
	b = append(b, m.jfrMetadata()...)
	be := binary.BigEndian
	copy(b, "FLR\x00\x00\x02\x00\x01")
	for i, v := range []uint64{uint64(len(b)), uint64(constants), uint64(metadata), 1e18, 1e9, 0, 1e9} {
		be.PutUint64(b[8+8*i:], v)
	}
	b[67] = 1
	for range m.rng.IntN(3) {
		if m.calm {
			break
		}
		be.PutUint64(b[8*m.rng.IntN(headerSize/8):], m.number())
	}
	return b
}

// reportSample is what simpleperf report-sample writes: records behind their sizes (cmd_report_sample.proto), or text.
func (m *maker) reportSample() []byte {
	if m.rng.IntN(2) == 0 {
		return m.reportSampleText()
	}
	b := []byte("SIMPLEPERF\x01\x00")
	uints := func(pairs ...uint64) (x []byte) {
		for i := 0; i < len(pairs); i += 2 {
			x = binary.AppendUvarint(binary.AppendUvarint(x, pairs[i]<<3), pairs[i+1])
		}
		return x
	}
	record := func(kind uint64, body []byte) {
		body = field(nil, kind, body)
		size := uint32(len(body))
		if !m.calm && m.rng.IntN(200) == 0 {
			size = uint32(m.number())
		}
		b = append(binary.LittleEndian.AppendUint32(b, size), body...)
	}
	id := func() uint64 {
		if !m.calm && m.rng.IntN(60) == 0 {
			return m.number()
		}
		return uint64(m.rng.IntN(8))
	}
	record(5, field(field(nil, 1, []byte("cpu-clock")), 1, []byte(m.name())))
	for i := range uint64(1 + m.n(50, 2000)) {
		s := uints(1, i, 2, id(), 4, m.number(), 5, id()%2)
		for range m.n(20, 300) {
			s = field(s, 3, uints(1, m.number(), 2, id(), 3, id()))
		}
		record(1, s)
		if m.rng.IntN(8) == 0 {
			record(6, uints(1, uint64(m.rng.IntN(2)), 2, m.number(), 3, id()))
		}
	}
	for i := range uint64(8) {
		f := field(uints(1, i), 2, []byte(m.name()))
		for range 8 {
			f = field(f, 3, []byte(m.name()))
		}
		record(3, f)
		record(4, field(uints(1, i, 2, id()), 3, []byte(m.name())))
	}
	record(2, uints(1, m.number(), 2, m.number()))
	return append(b, 0, 0, 0, 0)
}

func (m *maker) reportSampleText() []byte {
	b := []byte("meta_info:\n  event_type: cpu-clock\n")
	for i := range 1 + m.n(50, 2000) {
		b = fmt.Appendf(b, "sample:\n  event_type: %s\n  time: %d\n  event_count: %d\n  thread_id: %d\n  thread_name: %s\n", m.pick("cpu-clock", "cpu-clock", "cpu-clock", m.name()), i, m.number(), m.rng.IntN(5), m.name())
		for j := range m.n(20, 300) {
			if j == 1 {
				b = append(b, "  callchain:\n"...)
			}
			b = fmt.Appendf(b, "  vaddr_in_file: %x\n  file: %s\n  symbol: %s\n", m.number(), m.name(), m.name())
		}
		if m.rng.IntN(8) == 0 {
			b = fmt.Appendf(b, "%s:\n  switch_on: %s\n  time: %d\n  thread_id: %d\n", m.pick("context_switch", "context_switch", m.name()), m.pick("true", "false"), m.number(), m.number()>>33)
		}
	}
	return b
}

// otlp is a message of OTLP profiles (opentelemetry/proto/profiles/v1development/profiles.proto): tables, and profiles that
// refer to them by number.
func (m *maker) otlp() []byte {
	uints := func(pairs ...uint64) (x []byte) {
		for i := 0; i < len(pairs); i += 2 {
			x = binary.AppendUvarint(binary.AppendUvarint(x, pairs[i]<<3), pairs[i+1])
		}
		return x
	}
	const entries = 20
	id := func() uint64 {
		if !m.calm && m.rng.IntN(60) == 0 {
			return m.number()
		}
		return uint64(1 + m.rng.IntN(entries-1))
	}
	packed := func(n int, value func() uint64) (x []byte) {
		for range n {
			x = binary.AppendUvarint(x, value())
		}
		return x
	}
	attribute := func() []byte { // a value is text or a number, or list in list
		switch m.rng.IntN(4) {
		case 0:
			return field(nil, 1, []byte(m.name()))
		case 1:
			v := uints(3, m.number())
			deep := 200
			if m.calm {
				deep = 4
			}
			for range m.n(3, deep) {
				v = field(nil, 5, field(nil, 1, v))
			}
			return v
		}
		return uints(3, m.number())
	}
	var dictionary []byte
	for i := range entries {
		none := i == 0
		entry := func(num uint64, body []byte) {
			if none {
				body = nil
			}
			dictionary = field(dictionary, num, body)
		}
		entry(1, uints(1, m.number(), 2, m.number(), 3, m.number(), 4, id()))
		entry(2, field(uints(1, id(), 2, m.number()), 3, uints(1, id(), 2, m.number())))
		entry(3, uints(1, id(), 2, id(), 3, id(), 4, m.number()))
		entry(5, []byte(m.name()))
		entry(6, field(uints(1, id()), 2, attribute()))
		entry(7, field(nil, 1, packed(m.n(20, 3000), id)))
	}
	kind := uints(1, id(), 2, id())
	profile := field(nil, 1, kind)
	for range 1 + m.n(50, 2000) {
		s := field(uints(1, id()), 4, packed(1, m.number))
		if m.rng.IntN(3) == 0 {
			most := 4
			if m.calm {
				most = 2 // none twice
			}
			s = field(s, 2, packed(m.rng.IntN(most), id))
		}
		profile = field(profile, 2, s)
	}
	profile = binary.LittleEndian.AppendUint64(append(profile, 3<<3|1), m.number()) // a time takes eight bytes
	profile = append(field(profile, 5, kind), uints(4, m.number(), 6, m.number())...)
	resource := field(nil, 1, field(nil, 1, field(field(nil, 1, []byte("service.name")), 2, field(nil, 1, []byte(m.name())))))
	b := field(nil, 1, field(resource, 2, field(nil, 2, profile)))
	if m.rng.IntN(2) == 0 {
		return append(field(nil, 2, dictionary), b...)
	}
	return field(b, 2, dictionary)
}
