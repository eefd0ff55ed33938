package objfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseKallsyms(t *testing.T) {
	const list = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000000 t startup_64
ffffffff81000100 t local
ffffffff81000180 W weak
ffffffff81000180 t not_weak
ffffffff81000200 w undefined_weak
ffffffff81000240 D data
ffffffff81000280 r rodata

ffffffff81000300 T _etext
ffffffffc0203ff0 t init	[snd]
ffffffffc0203ff8 t $x	[snd]
ffffffffc0204000 t play	[snd]
ffffffffc0204200 t probe	[usb]
ffffffffc0209000 t last	[usb]
`
	got, err := ParseKallsyms(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	want := []Symbol{
		{0xffffffff81000000, 0x100, "_text"},
		{0xffffffff81000100, 0x80, "local"},
		{0xffffffff81000180, 0x80, "weak"},
		{0xffffffff81000200, 0x100, "undefined_weak"},
		{0xffffffff81000300, 0x1d00, "_etext"}, // to the end of the page after
		{0xffffffffc0203ff0, 0x10, "init [snd]"},
		{0xffffffffc0204000, 0x200, "play [snd]"},
		{0xffffffffc0204200, 0x4e00, "probe [usb]"},
		{0xffffffffc0209000, 0x1000, "last [usb]"},
	}
	if diff := cmp.Diff(want, slices.Collect(got.All())); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
	marks := map[string]uint64{"_stext": 0xffffffff81000000, "_text": 0xffffffff81000000, "_etext": 0xffffffff81000300}
	for _, name := range []string{"_text", "_stext", "_etext", "_edata", "data"} {
		if at, ok := got.Mark(name); at != marks[name] || ok != (at != 0) {
			t.Errorf("%s is at %#x, %t", name, at, ok)
		}
	}
	if diff := cmp.Diff(map[string]uint64{"snd": 0xffffffffc0203000, "usb": 0xffffffffc0204000}, got.Modules); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	modules := "snd 20480 1 usb, Live 0xffffffffc0201000\nusb 4096 0 - Live 0x0000000000000000\nnew 4096 2 - Loading 0xffffffffc0100000 (OE)\n"
	if err := got.ReadModules(strings.NewReader(modules)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]uint64{"snd": 0xffffffffc0201000, "usb": 0xffffffffc0204000, "new": 0xffffffffc0100000}, got.Modules); diff != "" {
		t.Errorf("modules with /proc/modules (-want +got):\n%s", diff)
	}
	for list, want := range map[string]string{"snd 20480 1\n": "modules: line 1: 3 fields, not 6", "a 1 0 - Live 0x1\nb 1 0 - Live x\n": `modules: line 2: address "x"`} {
		if err := got.ReadModules(strings.NewReader(list)); err == nil || err.Error() != want {
			t.Errorf("%q: got error %v, want %s", list, err, want)
		}
	}
	for name, want := range map[string]string{"play [snd]": "snd", "schedule": "", "f [__builtin__ftrace]": "__builtin__ftrace"} {
		if got := ModuleOf(Symbol{Name: name}); got != want {
			t.Errorf("%s is of module %q", name, got)
		}
	}
}

func TestKallsymsErrors(t *testing.T) {
	tests := []struct {
		list, want string
		is         error
	}{
		{"", "kallsyms: functions not found", ErrNotFound},
		{"ffffffff81000240 D data\n", "kallsyms: functions not found", ErrNotFound},
		{"0000000000000000 T a\n0000000000000000 t b\n", "kallsyms: all addresses are zero; see /proc/sys/kernel/kptr_restrict", ErrRestricted},
		{"ffffffff81000240 T a\nxyz T b\n", `kallsyms: line 2: address "xyz"`, nil},
		{"ffffffff81000240 T a\n\nffffffff81000240 T\n", "kallsyms: line 3: no type and name", nil},
		{"ffffffff81000240 Text a\n", "kallsyms: line 1: no type and name", nil},
		{"ffffffff81000240ffffffff T a\n", `kallsyms: line 1: address "ffffffff81000240ffffffff"`, nil},
		{"ffffffff81000240 T a\n" + strings.Repeat("x", maxLine+1), "kallsyms: line 2: longer than 1048576 bytes", nil},
	}
	for _, test := range tests {
		_, err := ParseKallsyms(strings.NewReader(test.list))
		if err == nil || err.Error() != test.want || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%.60q: got error %v, want %s", test.list, err, test.want)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := ParseKallsyms(io.MultiReader(strings.NewReader("ffffffff81000240 T a\n"), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestParsePerfMap(t *testing.T) {
	const list = `3ef414c0 398 RegExp:[{(]
3ef418a0 0x398 LazyCompile:~f file.js:1 and more
0x3ef41d00 50 first
3ef41d00 40 second at the same place
3ef42000 100 outer
3ef42080 10 newer inside
3ef43010 20 old, its start is overwritten
3ef43008 8 old, all of it is overwritten
3ef43000 20 new
3ef44000 0 nothing
`
	got, err := ParsePerfMap(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	want := []Symbol{
		{0x3ef414c0, 0x398, "RegExp:[{(]"},
		{0x3ef418a0, 0x398, "LazyCompile:~f file.js:1 and more"},
		{0x3ef41d00, 0x40, "second at the same place"},
		{0x3ef41d40, 0x10, "first"},
		{0x3ef42000, 0x100, "outer"},
		{0x3ef42080, 0x10, "newer inside"},
		{0x3ef43000, 0x20, "new"},
		{0x3ef43020, 0x10, "old, its start is overwritten"},
	}
	if diff := cmp.Diff(want, slices.Collect(got.All())); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
	if s, _ := got.Lookup(0x3ef420f0); s.Name != "outer" {
		t.Errorf("after the newer symbol: got %q, want outer", s.Name)
	}
	if got, err := ParsePerfMap(strings.NewReader("")); err != nil || got.Len() != 0 {
		t.Errorf("empty file: got %v, %v", got, err)
	}
	for list, want := range map[string]string{
		"x 10 name":               `perf map: line 1: start "x"`,
		"10 10 name\n10":          `perf map: line 2: size ""`,
		"10 -1 name":              `perf map: line 1: size "-1"`,
		"10 10 \t":                "perf map: line 1: no name",
		"ffffffffffffffff 2 name": "perf map: line 1: 0x2 bytes at 0xffffffffffffffff reach beyond the end of memory",
	} {
		if _, err := ParsePerfMap(strings.NewReader(list)); err == nil || err.Error() != want {
			t.Errorf("%q: got error %v, want %s", list, err, want)
		}
	}
}

// TestPerfMapLastWins compares with painting memory line by line.
func TestPerfMapLastWins(t *testing.T) {
	var list strings.Builder
	memory := make([]string, 4096)
	seed := uint32(1)
	random := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for i := range 400 {
		lo, size := random(4000), 1+random(90)
		name := fmt.Sprintf("f%d", i)
		fmt.Fprintf(&list, "%x %x %s\n", lo, size, name)
		for a := lo; a < lo+size; a++ {
			memory[a] = name
		}
	}
	table, err := ParsePerfMap(strings.NewReader(list.String()))
	if err != nil {
		t.Fatal(err)
	}
	for a, want := range memory {
		got, _ := table.Lookup(uint64(a))
		if got.Name != want {
			t.Errorf("%#x: got %q, want %q", a, got.Name, want)
		}
	}
}

// jitFile builds a jitdump file.
type jitFile struct{ *writer }

func newJITFile(big bool, flags uint64) jitFile {
	w := jitFile{newWriter(big)}
	w.u32(jitMagic)
	w.u32(1)
	w.u32(jitHeaderSize)
	w.u32(62)
	w.u32(0)
	w.u32(4711)
	w.u64(1000)
	w.u64(flags)
	return w
}

func (w jitFile) record(kind uint32, time uint64, body []byte) {
	w.u32(kind)
	w.u32(uint32(jitRecordSize + len(body)))
	w.u64(time)
	w.Write(body)
}

func (w jitFile) load(time, addr, size, index uint64, name string) {
	b := &writer{order: w.order}
	b.u32(4711)
	b.u32(4712)
	b.u64(addr)
	b.u64(addr)
	b.u64(size)
	b.u64(index)
	b.WriteString(name + "\x00")
	for range size {
		b.WriteByte(0xcc)
	}
	w.record(jitCodeLoad, time, b.Bytes())
}

func (w jitFile) move(time, from, to, size, index uint64) {
	b := &writer{order: w.order}
	b.u32(4711)
	b.u32(4712)
	b.u64(to)
	b.u64(from)
	b.u64(to)
	b.u64(size)
	b.u64(index)
	w.record(jitCodeMove, time, b.Bytes())
}

func TestParseJITDump(t *testing.T) {
	for _, big := range []bool{false, true} {
		w := newJITFile(big, 0)
		w.load(10, 0x1000, 0x10, 1, "first")
		w.record(jitCodeDebugInfo, 11, []byte("anything"))
		w.load(20, 0x2000, 0x20, 2, "second")
		w.load(30, 0x1008, 0x10, 3, "over the first")
		w.move(40, 0x2000, 0x3000, 0x20, 2)
		w.record(jitCodeUnwinding, 41, nil)
		w.move(50, 0x9000, 0x9100, 8, 99) // of something never loaded
		w.load(60, 0x1000, 0x10, 4, "again")
		w.record(jitCodeClose, 70, nil)
		data := w.Bytes()
		d, err := ParseJITDump(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if d.PID != 4711 || d.Machine != 62 || d.Start != 1000 || d.ArchTime || d.Truncated || len(d.Loads) != 4 || len(d.Moves) != 2 {
			t.Errorf("big-endian %v: got %+v", big, d)
		}
		for _, l := range d.Loads {
			if code := data[l.CodeOffset : l.CodeOffset+int64(l.Size)]; bytes.Count(code, []byte{0xcc}) != len(code) {
				t.Errorf("code of %s: got %x", l.Name, code)
			}
		}
		for _, test := range []struct {
			time, addr uint64
			want       string
			start      uint64
		}{
			{9, 0x1000, "", 0},
			{10, 0x1000, "first", 0x1000},
			{29, 0x100f, "first", 0x1000},
			{30, 0x100f, "over the first", 0x1008},
			{30, 0x1007, "first", 0x1000},
			{59, 0x1017, "over the first", 0x1008},
			{60, 0x100f, "again", 0x1000},
			{60, 0x1010, "over the first", 0x1008},
			{39, 0x2000, "second", 0x2000},
			{40, 0x2000, "", 0},
			{39, 0x3000, "", 0},
			{40, 0x301f, "second", 0x3000},
			{40, 0x3020, "", 0},
			{100, 0x9100, "", 0},
		} {
			got, ok := d.Lookup(test.time, test.addr)
			if got.Name != test.want || ok != (test.want != "") || got.Addr != test.start {
				t.Errorf("big-endian %v: at %d, %#x: got %v, want %q at %#x", big, test.time, test.addr, got, test.want, test.start)
			}
		}
	}
}

func TestJITDumpTruncated(t *testing.T) {
	w := newJITFile(false, jitFlagArchTime)
	w.load(10, 0x1000, 0x10, 1, "first")
	whole := w.Len()
	w.load(20, 0x2000, 0x10, 2, "second")
	w.load(30, 0x3000, 0, 3, "third")
	data := w.String()
	for n := jitHeaderSize; n <= len(data); n++ {
		d, err := ParseJITDump(strings.NewReader(data[:n]))
		if err != nil {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if !d.ArchTime {
			t.Errorf("cut to %d bytes: not in ticks", n)
		}
		if n > whole && n < len(data) && len(d.Loads) < 1 {
			t.Errorf("cut to %d bytes: got %d loads", n, len(d.Loads))
		}
		if want := len(d.Loads) < 3 && n != jitHeaderSize && n != whole && len(d.Loads) < 2 || n == len(data)-1; want && !d.Truncated {
			t.Errorf("cut to %d bytes: not truncated", n)
		}
	}
	// Zeros at the end are what a file has that grows in steps.
	if d, err := ParseJITDump(strings.NewReader(data + strings.Repeat("\x00", 100))); err != nil || !d.Truncated || len(d.Loads) != 3 {
		t.Errorf("zeros at the end: got %+v, %v", d, err)
	}
}

func TestJITDumpErrors(t *testing.T) {
	header := newJITFile(false, 0).String()
	tests := []struct {
		data, want string
	}{
		{"", "jitdump: header is cut short at 0x0"},
		{header[:39], "jitdump: header is cut short at 0x0"},
		{strings.Repeat("x", 64), "jitdump: not a jitdump file at 0x0"},
		{header[:4] + "\x02" + header[5:], "jitdump: version 2: not supported"},
		{header[:8] + "\x20" + header[9:], "jitdump: header of 32 bytes at 0x8"},
		{header + "\x00\x00\x00\x00\x0f\x00\x00\x00" + strings.Repeat("\x01", 8), "jitdump: record of 15 bytes at 0x28"},
		{header + "\x00\x00\x00\x00\x18\x00\x00\x00" + strings.Repeat("\x01", 16), "jitdump: load record of 24 bytes at 0x28"},
		{header + "\x01\x00\x00\x00\x18\x00\x00\x00" + strings.Repeat("\x01", 16), "jitdump: move record of 24 bytes at 0x28"},
	}
	for _, test := range tests {
		if _, err := ParseJITDump(strings.NewReader(test.data)); err == nil || err.Error() != test.want {
			t.Errorf("%.40q: got error %v, want %s", test.data, err, test.want)
		}
	}
	w := newJITFile(false, 0)
	w.load(10, 0x1000, 4, 1, "f")
	data := w.Bytes()
	copy(data[jitHeaderSize+jitRecordSize+24:], "\xff\xff\xff\xff\xff\xff\xff\x7f") // code_size
	if _, err := ParseJITDump(strings.NewReader(string(data))); err == nil || !strings.Contains(err.Error(), "exceeds its record") {
		t.Errorf("code size: got error %v", err)
	}
}
