package inputtest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/klauspost/compress/zstd"

	"profdiff/internal/perffile"
)

// A Hostile is an input whose parts contradict each other, whose numbers lie, or whose names
// are to harm what prints them.
type Hostile struct {
	Kind string
	Data []byte
	// Files are object files that the input names, by path: ELF, DEX, dumps of JIT compilers,
	// maps of perf.
	Files map[string][]byte
}

// Kinds of hostile inputs, by what makes them.
var kinds = []struct {
	name string
	make func(m *maker) []byte
}{
	{"folded", (*maker).folded},
	{"perf.data", (*maker).perfData},
	{"perf.data with object files", (*maker).objects},
	{"pprof", (*maker).pprof},
	{"perfetto", (*maker).perfetto},
	{"gecko", (*maker).gecko},
	{"chrome", (*maker).chrome},
	{"cpuprofile", (*maker).cpuProfile},
	{"perf script", (*maker).perfScript},
	{"callgrind", (*maker).callgrind},
	{"ftrace", (*maker).ftrace},
	{"stack dump", (*maker).stackDump},
	{PerfStat, (*maker).perfStat},
	{"page", (*maker).page},
	{"bomb", (*maker).bomb},
	{"jfr", (*maker).jfr},
	{"otlp", (*maker).otlp},
	{"report-sample", (*maker).reportSample},
	{"report csv", (*maker).reportCSV},
	{"bpftrace", (*maker).bpftrace},
	{"tombstone", (*maker).tombstone},
	{Manifest, (*maker).manifest},
	{Specs, (*maker).specs},
	{Budget, (*maker).budget},
	{Categories, (*maker).categories},
	{Renamed, (*maker).renamed},
	{Kallsyms, (*maker).kallsyms},
	{Metrics, (*maker).metrics},
}

// NewHostile makes the input of a number: the same for the same number.
func NewHostile(seed uint64) Hostile {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 20))}
	m.calm = m.rng.IntN(2) == 0
	kind := kinds[seed%uint64(len(kinds))]
	data := kind.make(m)
	if m.rng.IntN(8) == 0 {
		data = m.compressed(data)
	}
	return Hostile{kind.name, data, m.files}
}

type maker struct {
	rng *rand.Rand
	// calm makers write files that are well formed, and hostile by their names and sizes alone:
	// of others hardly one is read to its end.
	calm  bool
	files map[string][]byte
}

// n is a number of things: mostly few, seldom many.
func (m *maker) n(few, many int) int {
	if m.rng.IntN(6) == 0 {
		return m.rng.IntN(many)
	}
	return m.rng.IntN(few)
}

// name is one of a few hundred, of which many have what harms.
func (m *maker) name() string {
	name := m.anyName()
	if m.calm {
		name = strings.Map(func(r rune) rune {
			if r == ';' || r < ' ' && r != '\t' {
				return '\x1b'
			}
			return r
		}, name) + "x"
	}
	return name
}

func (m *maker) anyName() string {
	hostile := []string{
		"", "main", "a;b", "\x1b[31m", "::error::x", "\n::warning::y", "\r", "a\x00b", "\u202eevil", "<script>alert(1)</script>", "a b 7", "`|*_", "=cmd()", "..\\..", "../../etc/passwd",
		"\xff\xfe\xf0", strings.Repeat("x", 5000), "std::map<int, std::vector<std::pair<a, b>>>::operator()(int) const", "[kernel.kallsyms]", "[unknown]", "0x1234", "%s%n%x", "\u0301\u0301\u0301", "{{.}}", "'\"", "_Z" + strings.Repeat("N1a", 200) + "E",
		strings.Repeat("_ZN", 300), "\x7f\x80\x9b31m", "lambda$0$<clinit>", "-o", "@file", "\t\v\f\b", "_ZSt" + strings.Repeat("IS", 2000),
	}
	if m.rng.IntN(2) == 0 {
		return fmt.Sprintf("function_%d", m.rng.IntN(300))
	}
	if m.rng.IntN(8) == 0 {
		return string(rune(m.rng.IntN(0x110000)))
	}
	return hostile[m.rng.IntN(len(hostile))]
}

// number is one that programs err at.
func (m *maker) number() uint64 {
	if m.calm {
		return 1 + uint64(m.rng.IntN(5000))
	}
	edges := []uint64{0, 1, 2, 7, 255, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 4096}
	switch m.rng.IntN(3) {
	case 0:
		return edges[m.rng.IntN(len(edges))]
	case 1:
		return uint64(m.rng.IntN(100))
	}
	return m.rng.Uint64() >> m.rng.IntN(64)
}

func (m *maker) pick(list ...string) string { return list[m.rng.IntN(len(list))] }

// compressed packs data, sometimes only its start.
func (m *maker) compressed(data []byte) []byte {
	var b bytes.Buffer
	if m.rng.IntN(2) == 0 {
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		_ = z.Close()
	} else {
		z, _ := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		_, _ = z.Write(data)
		_ = z.Close()
	}
	if m.rng.IntN(4) == 0 {
		b.Truncate(m.rng.IntN(b.Len()))
	}
	return b.Bytes()
}

func (m *maker) folded() []byte {
	var b bytes.Buffer
	for range 1 + m.n(50, 3000) {
		for range 1 + m.n(20, 200) {
			b.WriteString(m.name())
			b.WriteString(m.pick(";", ";", ";", "_[k];", "_[i];", "\\;", ""))
		}
		space := " "
		if !m.calm {
			space = m.pick(" ", " ", "\t", " -", " 1 ")
		}
		fmt.Fprintf(&b, "leaf%s%d\n", space, m.number())
	}
	return b.Bytes()
}

func (m *maker) perfData() []byte {
	r := newRecording()
	pid := func() uint32 { return uint32(m.rng.IntN(6)) }
	for i := range 1 + m.n(200, 5000) {
		what := m.rng.IntN(9)
		if m.calm && (what == 3 || what == 5) {
			what = 8
		}
		switch what {
		case 0:
			r.mmap(pid(), m.number(), m.number(), m.path())
		case 1:
			r.fork(pid(), pid())
		case 2:
			r.comm(pid(), strings.ReplaceAll(m.name(), "\x00", ""))
		case 3:
			r.record(perffile.RecordType(m.number()>>m.rng.IntN(64)), perffile.Misc(m.rng.Uint32()), func() {
				for range m.rng.IntN(10) {
					r.u64(m.number())
				}
			})
		case 4:
			r.record(perffile.RecordLost, 0, func() { r.u64(0); r.u64(m.number()) })
		case 5:
			r.record(perffile.RecordType(1+m.rng.IntN(21)), perffile.Misc(m.rng.IntN(8)), func() {
				for range m.rng.IntN(12) {
					r.u64(m.number())
				}
			})
		default:
			r.sample(pid(), m.number(), uint64(i))
		}
	}
	data := r.done()
	for range m.rng.IntN(3) { // the header may lie, too
		if m.calm {
			break
		}
		binary.LittleEndian.PutUint64(data[8*m.rng.IntN(headerSize/8):], m.number())
	}
	copy(data, "PERFILE2")
	return data
}

// path of a file that may be mapped.
func (m *maker) path() string {
	return m.pick("/x/lib.so", "/x/app.dex", "/x/jit-1.dump", "/tmp/perf-1.map", "[kernel.kallsyms]_text", "//anon", "/x/base.apk", "", "/x/"+strings.ReplaceAll(m.name(), "\x00", ""))
}

// objects is a recording whose files are hostile.
func (m *maker) objects() []byte {
	m.files = map[string][]byte{
		"x/lib.so": m.elf(), "x/app.dex": m.dex(), "x/jit-1.dump": m.jitDump(), "tmp/perf-1.map": m.perfMap(), "x/base.apk": append([]byte("PK\x03\x04"), m.noise(400)...),
	}
	r := newRecording()
	at := uint64(1 << 20)
	for _, file := range []string{"/x/lib.so", "/x/app.dex", "/x/jit-1.dump", "/tmp/perf-1.map", "/x/base.apk", "//anon"} {
		r.mmap(1, at, 1<<16, file)
		for i := range uint64(20) {
			r.sample(1, at+i*uint64(m.rng.IntN(3000)), at+i)
		}
		at += 1 << 20
	}
	return r.done()
}

// noise is numbers that lie.
func (m *maker) noise(n int) []byte {
	var b []byte
	for len(b) < n {
		switch m.rng.IntN(3) {
		case 0:
			b = binary.LittleEndian.AppendUint64(b, m.number())
		case 1:
			b = binary.LittleEndian.AppendUint32(b, uint32(m.number()))
		default:
			b = append(b, byte(m.rng.Uint32()))
		}
	}
	return b
}

// elf is a file with a program header, and sections of symbols and of debugging information in which
// entries refer to themselves.
func (m *maker) elf() []byte {
	sections := []struct {
		name string
		typ  uint32
		data []byte
	}{
		{"", 0, nil},
		{".text", 1, m.noise(2000)},
		{".symtab", 2, m.symbols()},
		{".strtab", 3, []byte("\x00main\x00" + m.name() + "\x00")},
		{".debug_abbrev", 1, []byte("\x01\x11\x01\x03\x08\x10\x17\x11\x01\x12\x06\x00\x00\x02\x2e\x01\x31\x13\x11\x01\x12\x06\x00\x00\x03\x1d\x01\x31\x13\x11\x01\x12\x06\x00\x00\x00")},
		{".debug_info", 1, m.dwarf()},
		{".debug_line", 1, m.noise(300)},
		{".eh_frame", 1, m.noise(300)},
		{".note.gnu.build-id", 7, m.noise(36)},
		{".gnu_debuglink", 1, append([]byte("lib.so\x00\x00"), m.noise(4)...)},
		{".shstrtab", 3, nil},
	}
	var names []byte
	at := make([]uint32, len(sections))
	for i := range sections {
		at[i] = uint32(len(names))
		names = append(append(names, sections[i].name...), 0)
	}
	sections[len(sections)-1].data = names
	le := binary.LittleEndian
	b := make([]byte, 64+56)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 3)
	le.PutUint16(b[18:], 62)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[32:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], 1)
	le.PutUint16(b[58:], 64)
	le.PutUint16(b[60:], uint16(len(sections)))
	le.PutUint16(b[62:], uint16(len(sections)-1))
	le.PutUint32(b[64:], 1)
	le.PutUint32(b[68:], 5)
	le.PutUint64(b[96:], 1<<16)
	le.PutUint64(b[104:], 1<<16)
	var table []byte
	for i, s := range sections {
		h := make([]byte, 64)
		le.PutUint32(h, at[i])
		le.PutUint32(h[4:], s.typ)
		le.PutUint64(h[16:], 0) // address
		le.PutUint64(h[24:], uint64(len(b)))
		le.PutUint64(h[32:], uint64(len(s.data)))
		if s.typ == 2 {
			le.PutUint32(h[40:], 3)
			le.PutUint64(h[56:], 24)
		}
		if m.rng.IntN(12) == 0 {
			le.PutUint64(h[8*m.rng.IntN(8):], m.number())
		}
		table = append(table, h...)
		b = append(b, s.data...)
	}
	le.PutUint64(b[40:], uint64(len(b)))
	if m.rng.IntN(6) == 0 {
		le.PutUint16(b[2*m.rng.IntN(32):], uint16(m.number()))
	}
	return append(b, table...)
}

func (m *maker) symbols() (b []byte) {
	for range m.n(30, 2000) {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.rng.IntN(20)))
		b = append(b, byte(m.rng.IntN(4)), 0, 1, 0)
		b = binary.LittleEndian.AppendUint64(b, m.number()>>m.rng.IntN(64))
		b = binary.LittleEndian.AppendUint64(b, m.number())
	}
	return b
}

// dwarf is a unit of functions and of functions inlined into them whose origins are each other, or themselves.
func (m *maker) dwarf() []byte {
	b := []byte{4, 0, 0, 0, 0, 0, 8, 1}
	b = append(b, "unit\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00"...)
	for range 1 + m.n(20, 500) {
		b = append(b, byte(2+m.rng.IntN(2)))
		b = binary.LittleEndian.AppendUint32(b, uint32(m.rng.IntN(len(b)+20)))
		b = binary.LittleEndian.AppendUint64(b, uint64(m.rng.IntN(4000)))
		b = binary.LittleEndian.AppendUint32(b, uint32(m.rng.IntN(4000)))
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func (m *maker) dex() []byte {
	b := append([]byte("dex\n035\x00"), m.noise(104)...)
	binary.LittleEndian.PutUint32(b[36:], 112)
	binary.LittleEndian.PutUint32(b[40:], 0x12345678)
	for at := 44; at < 108; at += 8 { // pairs of a count and an offset
		if m.rng.IntN(2) == 0 {
			binary.LittleEndian.PutUint32(b[at:], uint32(m.rng.IntN(100)))
			binary.LittleEndian.PutUint32(b[at+4:], uint32(m.rng.IntN(2000)))
		}
	}
	return append(b, m.noise(2000)...)
}

func (m *maker) jitDump() []byte {
	b := []byte("DTiJ\x01\x00\x00\x00\x28\x00\x00\x00\x3e\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00")
	b = append(b, make([]byte, 16)...)
	for range m.n(20, 500) {
		body := m.noise(m.rng.IntN(80))
		size := uint32(16 + len(body))
		if m.rng.IntN(10) == 0 {
			size = uint32(m.number())
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(m.rng.IntN(6)))
		b = binary.LittleEndian.AppendUint32(b, size)
		b = binary.LittleEndian.AppendUint64(b, m.number())
		b = append(b, body...)
	}
	return b
}

func (m *maker) perfMap() []byte {
	var b bytes.Buffer
	for range m.n(40, 2000) {
		fmt.Fprintf(&b, "%x %x %s\n", m.number(), m.number(), m.name())
	}
	return b.Bytes()
}

// message is a message of protobuf: fields of small numbers, messages in messages.
func (m *maker) message(depth int) (b []byte) {
	for range m.rng.IntN(8) {
		num := uint64(1 + m.rng.IntN(16))
		switch m.rng.IntN(4) {
		case 0:
			b = binary.AppendUvarint(b, num<<3)
			b = binary.AppendUvarint(b, m.number())
		case 1:
			b = field(b, num, []byte(m.name()))
		case 2:
			b = binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, num<<3|1), m.number())
		default:
			if depth > 0 {
				b = field(b, num, m.message(depth-1))
			}
		}
	}
	return b
}

// field appends a field of bytes.
func field(b []byte, num uint64, data []byte) []byte {
	b = binary.AppendUvarint(b, num<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

func (m *maker) pprof() []byte {
	var b []byte
	uints := func(pairs ...uint64) (x []byte) {
		for i := 0; i < len(pairs); i += 2 {
			x = binary.AppendUvarint(binary.AppendUvarint(x, pairs[i]<<3), pairs[i+1])
		}
		return x
	}
	id := func() uint64 {
		if !m.calm && m.rng.IntN(40) == 0 {
			return m.number()
		}
		return uint64(1 + m.rng.IntN(20))
	}
	b = field(b, 1, uints(1, 1, 2, 2))
	for i := range uint64(20) {
		b = field(b, 4, append(uints(1, i+1, 2, 1, 3, m.number()), field(nil, 4, uints(1, id(), 2, m.number()))...))
		b = field(b, 5, uints(1, i+1, 2, id(), 3, id(), 4, id()))
	}
	b = field(b, 3, uints(1, 1, 2, 0, 3, m.number(), 5, 1))
	for range 1 + m.n(30, 2000) {
		var ids []byte
		for range m.n(20, 500) {
			ids = binary.AppendUvarint(ids, id())
		}
		sample := field(field(nil, 1, ids), 2, binary.AppendUvarint(nil, m.number()))
		if m.rng.IntN(3) == 0 {
			sample = field(sample, 3, uints(1, id(), 2, id()))
		}
		b = field(b, 2, sample)
	}
	for i := range 22 {
		name := m.name()
		if i == 0 {
			name = ""
		}
		b = field(b, 6, []byte(name))
	}
	if !m.calm {
		b = append(b, m.message(3)...)
	}
	return b
}

func (m *maker) perfetto() []byte {
	var b []byte
	kinds := []uint64{1, 2, 6, 9, 11, 12, 33, 43, 44, 54, 56, 60, 66, 76, 84}
	for range 1 + m.n(50, 2000) {
		packet := binary.AppendUvarint(binary.AppendUvarint(nil, 8<<3), m.number())
		packet = binary.AppendUvarint(binary.AppendUvarint(packet, 10<<3), uint64(m.rng.IntN(3)))
		b = field(b, 1, field(packet, kinds[m.rng.IntN(len(kinds))], m.message(4)))
	}
	return b
}

// json is any value.
func (m *maker) json(depth int) string {
	if m.calm {
		return strconv.FormatUint(m.number(), 10)
	}
	switch m.rng.IntN(8) {
	case 0:
		return m.pick("null", "true", "1e400", "-1", "1.5", "[]", "{}", "\"\"", "-0", "1e-400")
	case 1:
		if depth > 0 {
			return "[" + m.json(depth-1) + "," + m.json(depth-1) + "]"
		}
	case 2:
		return m.quoted()
	}
	return strconv.FormatUint(m.number(), 10)
}

// object is an object with some of the keys, each of which has mostly the value given.
func (m *maker) object(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		value := pairs[i+1]
		kind := m.rng.IntN(30)
		if m.calm {
			kind = 2
		}
		switch kind {
		case 0:
			continue
		case 1:
			value = m.json(2)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], value)
	}
	return b.String() + "}"
}

// list is a list of n values.
func (m *maker) list(n int, value func(i int) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(value(i))
	}
	return b.String() + "]"
}

func (m *maker) quoted() string {
	var b bytes.Buffer
	for _, r := range strings.ToValidUTF8(m.name(), "?") {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return "\"" + b.String() + "\""
}

func (m *maker) gecko() []byte {
	n := 1 + m.n(50, 5000)
	row := func(i int) string {
		switch m.rng.IntN(40) {
		case 0:
			if !m.calm {
				return m.json(0)
			}
		case 1:
			if !m.calm {
				return strconv.Itoa(m.rng.IntN(n))
			}
		}
		if i == 0 {
			return "null"
		}
		return strconv.Itoa(i - 1 - m.rng.IntN(min(i, 4)))
	}
	table := func(columns ...string) string {
		return m.object(append(columns, "length", strconv.Itoa(n))...)
	}
	same := m.list(n, func(i int) string { return strconv.Itoa(i) })
	thread := m.object("name", m.quoted(), "pid", "1", "tid", "1",
		"samples", table("stack", same, "weight", m.list(n, func(int) string { return m.json(0) }), "time", same),
		"markers", table("name", m.list(n, func(i int) string { return strconv.Itoa(m.rng.IntN(n)) }), "startTime", m.list(n, func(int) string { return m.json(0) }),
			"endTime", m.list(n, func(int) string { return m.pick("null", m.json(0)) }), "phase", m.list(n, func(int) string { return strconv.Itoa(m.rng.IntN(4)) })),
		"stackTable", table("prefix", m.list(n, row), "frame", same),
		"frameTable", table("func", same, "address", same),
		"funcTable", table("name", same, "resource", m.list(n, row)),
		"resourceTable", table("lib", m.list(n, func(int) string { return "null" })),
		"stringArray", m.list(n, func(int) string { return m.quoted() }))
	return []byte(m.object("meta", m.object("product", m.quoted(), "startTime", m.json(0)), "libs", "[]", "threads", "["+thread+"]"))
}

func (m *maker) chrome() []byte {
	event := func(i int) string {
		return m.object("ph", m.pick(`"X"`, `"B"`, `"E"`, `"b"`, `"e"`, `"M"`, `"P"`, `"C"`, `"i"`, `"N"`), "ts", strconv.FormatUint(m.number()>>m.rng.IntN(64), 10), "dur", m.json(0),
			"pid", strconv.Itoa(m.rng.IntN(3)), "tid", strconv.Itoa(m.rng.IntN(3)), "name", m.quoted(), "id", strconv.Itoa(m.rng.IntN(4)), "cat", m.quoted(), "args", m.object("name", m.quoted()))
	}
	return []byte(m.object("traceEvents", m.list(1+m.n(100, 5000), event)))
}

func (m *maker) cpuProfile() []byte {
	n := 1 + m.n(50, 2000)
	id := func() string { return strconv.Itoa(1 + m.rng.IntN(n)) }
	node := func(i int) string { // children may be parents
		return m.object("id", strconv.Itoa(i+1), "callFrame", m.object("functionName", m.quoted(), "url", m.quoted(), "lineNumber", m.json(0)),
			"children", m.list(m.rng.IntN(4), func(int) string { return id() }))
	}
	return []byte(m.object("nodes", m.list(n, node), "startTime", "1000", "endTime", m.json(0),
		"samples", m.list(n, func(int) string { return id() }), "timeDeltas", m.list(n, func(int) string { return m.json(0) })))
}

func (m *maker) perfScript() []byte {
	var b bytes.Buffer
	for range 1 + m.n(40, 1000) {
		fmt.Fprintf(&b, "%s %d/%d [%03d] %d.%06d: %d %s:%s\n", m.pick("prog", "prog", m.name()), m.rng.IntN(9), m.rng.IntN(9), m.rng.IntN(4), m.rng.IntN(1000), m.rng.IntN(1e6), m.number(), m.pick("cycles", "cycles:u", m.name()), m.pick("", " "))
		for range m.n(20, 300) {
			fmt.Fprintf(&b, "\t%16x %s+0x%x (%s)\n", m.number(), m.name(), m.number(), m.pick("/usr/lib/libc.so.6", "[kernel.kallsyms]", "inlined", m.name()))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (m *maker) callgrind() []byte {
	var b bytes.Buffer
	b.WriteString("# callgrind format\nversion: 1\npositions: line\nevents: Ir Bc Bcm\n")
	for i := range 1 + m.n(60, 3000) {
		if m.calm {
			fmt.Fprintf(&b, "fn=(%d) %s\n%d %d 7 3\ncfn=(%d) %s\ncalls=%d 5\n%d %d 4 1\n\n", 2*i, m.name(), i, m.number(), 2*i+1, m.name(), m.number(), i, m.number())
			continue
		}
		b.WriteString(m.pick("fl=(1) a.c\n", "fn=(1) main\n", "fn=("+strconv.Itoa(m.rng.IntN(30))+") "+m.name()+"\n", "cfn=("+strconv.Itoa(m.rng.IntN(30))+")\n",
			"calls="+strconv.FormatUint(m.number(), 10)+" 5\n", "+1 "+strconv.FormatUint(m.number(), 10)+" 7\n", "12 5 6 7\n", "* 1\n", "jcnd=1/2 3\n", "ob=(1) "+m.name()+"\n", "totals: 1\n"))
	}
	return b.Bytes()
}

func (m *maker) ftrace() []byte {
	var b bytes.Buffer
	b.WriteString("# tracer: nop\n#\n")
	for i := range 1 + m.n(60, 3000) {
		fmt.Fprintf(&b, "%16s-%-5d (%5d) [%03d] d..2 %d.%06d: %s\n", m.pick("proc", "proc", m.name()), m.rng.IntN(5), m.rng.IntN(5), m.rng.IntN(4), i, m.rng.IntN(1e6),
			m.pick("tracing_mark_write: B|1|"+m.name(), "tracing_mark_write: E|1", "tracing_mark_write: C|1|x|"+m.json(0), "tracing_mark_write: S|1|a|2", "tracing_mark_write: F|1|a|2",
				"sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120", "sched_waking: comm=b pid=2 prio=120 target_cpu=0", m.name()))
	}
	return b.Bytes()
}

func (m *maker) stackDump() []byte {
	var b bytes.Buffer
	b.WriteString("2026-01-01 00:00:00\nFull thread dump OpenJDK 64-Bit Server VM (21+35 mixed mode):\n\n")
	for i := range 1 + m.n(20, 500) {
		fmt.Fprintf(&b, "\"%s\" #%d prio=5 os_prio=0 cpu=%d.1ms elapsed=2s tid=0x%x nid=0x%x waiting on condition [0x%x]\n   java.lang.Thread.State: %s\n", m.name(), i, m.rng.IntN(9), m.number(), i, m.number(), m.pick("RUNNABLE", "BLOCKED (on object monitor)", m.name()))
		for range m.n(20, 300) {
			if m.calm {
				fmt.Fprintf(&b, "\tat a.b.%s.run(C.java:%d)\n", m.name(), m.number())
				continue
			}
			b.WriteString(m.pick("\tat a.b.C.run(C.java:5)\n", "\tat "+m.name()+"\n", "\t- locked <0x1> (a java.lang.Object)\n", "\t- waiting to lock <0x1> (a java.lang.Object)\n", "\t- parking to wait for <0x"+strconv.FormatUint(m.number(), 16)+"> (a x)\n"))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (m *maker) perfStat() []byte {
	var b bytes.Buffer
	if m.rng.IntN(2) == 0 {
		for range 1 + m.n(20, 500) {
			fmt.Fprintf(&b, "%s,,%s,%d,%d.00,,\n", m.pick("12", "<not counted>", m.json(0)), m.pick("cycles", "branches", "branch-misses", m.name()), m.number(), m.rng.IntN(101))
		}
		return b.Bytes()
	}
	b.WriteString("\n Performance counter stats for './a':\n\n")
	for range 1 + m.n(20, 500) {
		fmt.Fprintf(&b, "   %18d      %s    #  %d.%d %s (%d.00%%)\n", m.number(), m.pick("cycles", "branches", "branch-misses", m.name()), m.rng.IntN(9), m.rng.IntN(9), m.name(), m.rng.IntN(110))
	}
	b.WriteString("\n       1.0 seconds time elapsed\n")
	return b.Bytes()
}

// page is a report whose blocks are bombs, or no JSON.
func (m *maker) page() []byte {
	block := func() string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(strings.Repeat(m.pick("[", "0,", " ", `{"a":`), m.n(100, 4<<20))))
		_ = z.Close()
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	return []byte(`<!DOCTYPE html><html><head><title>x</title></head><body><script type="application/json" id="meta">` + m.object("schema", `"profdiff-report/v1"`, "blocks", `["names","event0"]`, "events", "[{}]") +
		`</script><script type="application/octet-stream" id="names">` + block() + `</script><script type="application/octet-stream" id="event0">` + block() + `</script></body></html>`)
}

// bomb inflates to far more than it is.
func (m *maker) bomb() []byte {
	var b bytes.Buffer
	line := []byte(m.pick("main;a 1\n", "\x00", `{"traceEvents":[`, "[", "PERFILE2", "\x0a\x02\x08\x01", "a;"))
	data := bytes.Repeat(line, (1+m.n(4<<20, 48<<20))/len(line))
	if m.rng.IntN(2) == 0 {
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(data)
		_ = z.Close()
	} else {
		z, _ := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		_, _ = z.Write(data)
		_ = z.Close()
	}
	return b.Bytes()
}
