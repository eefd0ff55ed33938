package objfile

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
)

// bounded runs f and fails if it allocates more than a multiple of the n bytes of
// its input.
func bounded(t *testing.T, n int, f func()) {
	t.Helper()
	const (
		factor = 200
		slack  = 16 << 20 // buffers, windows and tables of fixed size
	)
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	if got := sample[0].Value.Uint64() - before; got > uint64(n)*factor+slack {
		t.Errorf("%d bytes of input took %d bytes of memory", n, got)
	}
}

// checkTable calls all methods of a table.
func checkTable(t *testing.T, table *SymbolTable, err error) {
	t.Helper()
	if (table == nil) == (err == nil) {
		t.Fatalf("value and error: %v, %v", table, err)
	}
	if err != nil {
		return
	}
	n := 0
	last := Symbol{}
	for s := range table.All() {
		if s.Addr < last.Addr {
			t.Errorf("%v comes before %v", last, s)
		}
		last = s
		n++
		if got, ok := table.Lookup(s.Addr); s.Len > 0 && (!ok || got.Addr != s.Addr) {
			t.Errorf("lookup of the address of %v: got %v, %v", s, got, ok)
		}
		if n == 10_000 {
			return
		}
	}
	if n != table.Len() {
		t.Errorf("All yields %d symbols, Len is %d", n, table.Len())
	}
	table.Lookup(0)
	table.Lookup(1<<64 - 1)
	_ = table.Skipped()
}

// compiled returns a small program with debug information, nil if there is no
// compiler.
func compiled(f *testing.F, flags ...string) []byte {
	f.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return nil
	}
	exe := filepath.Join(f.TempDir(), "exe")
	src := source(f, "inline.c")
	if err := exec.Command(gcc, append(flags, "-g", "-O2", "-nostdlib", "-Wl,-e,main", "-o", exe, src)...).Run(); err != nil {
		return nil
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

func FuzzELF(f *testing.F) {
	im := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, segments: []testSegment{
		{typ: elf.PT_LOAD, flags: elf.PF_X, vaddr: 0x100, section: ".text"},
		{typ: elf.PT_NOTE, section: ".note"},
	}, sections: []testSection{
		text(".text", 0x100, 0x40), text(".plt", 0x400, 0x20),
		{name: ".note", typ: elf.SHT_NOTE, data: note(false, "GNU", noteGNUBuildID, []byte{1, 2, 3, 4}, 4)},
		{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: []testSymbol{fun("a", 0x100, 8), fun("b", 0x104, 0), fun("__b", 0x104, 2), fun("c", 0x110, 0)}},
		{name: ".gnu_debuglink", typ: elf.SHT_PROGBITS, data: []byte("x.debug\x00\x01\x02\x03\x04")},
		{name: ".gnu_debugaltlink", typ: elf.SHT_PROGBITS, data: []byte("x.dwz\x00\x01\x02\x03\x04")},
	}}
	for _, class32 := range []bool{false, true} {
		for _, big := range []bool{false, true} {
			im.class32, im.big, im.machine = class32, big, elf.EM_X86_64
			if class32 {
				im.machine = elf.EM_ARM
			}
			f.Add(im.build(f))
		}
	}
	for _, flags := range [][]string{{}, {"-gdwarf-4"}, {"-gz"}, {"-gdwarf-4", "-fdebug-types-section"}} {
		if data := compiled(f, flags...); data != nil {
			f.Add(data)
		}
	}
	f.Fuzz(checkELF)
}

// checkELF opens a file and calls everything.
func checkELF(t *testing.T, data []byte) {
	bounded(t, len(data), func() {
		file, err := New(bytes.NewReader(data), int64(len(data)))
		if (file == nil) == (err == nil) {
			t.Fatalf("value and error: %v, %v", file, err)
		}
		if err != nil {
			return
		}
		if file.Arch() == "" {
			t.Error("no architecture")
		}
		if id := file.BuildID(); len(id)%2 != 0 || strings.ToLower(id) != id {
			t.Errorf("build ID %q", id)
		}
		file.DebugLink()
		file.AltDebugLink()
		file.Section(".text")
		vaddr, _ := file.minExecutableVaddr()
		for _, s := range file.Segments() {
			file.VaddrOfOffset(s.Offset)
			if text, err := file.Text(s.Vaddr, 16); err == nil && len(text) != 16 {
				t.Errorf("got %d bytes of text, want 16", len(text))
			}
		}
		if _, err := file.Text(vaddr, 1<<40); err == nil {
			t.Error("got 1 TiB of text")
		}
		table, err := file.Symbols()
		checkTable(t, table, err)
		file.CodeStates().Thumb(vaddr)
		l, err := file.Lines()
		if (l == nil) == (err == nil) {
			t.Fatalf("value and error: %v, %v", l, err)
		}
		if err != nil {
			return
		}
		checkFrames(t, l, vaddr)
		if table != nil {
			for s := range table.All() {
				checkFrames(t, l, s.Addr)
			}
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
}

func checkFrames(t *testing.T, l *LineTable, addr uint64) {
	t.Helper()
	frames := l.Frames(addr)
	for i, f := range frames {
		if f.Inlined != (i < len(frames)-1) {
			t.Errorf("frame %d of %v: inlined %v", i, frames, f.Inlined)
		}
		if f.Line < 0 || f.Column < 0 || f.StartLine < 0 {
			t.Errorf("negative number in %v", f)
		}
	}
	_ = l.Err()
}

// FuzzLines works on the sections of debug information alone, where most of the
// bytes matter.
func FuzzLines(f *testing.F) {
	names := []string{"debug_info", "debug_abbrev", "debug_line", "debug_str", "debug_line_str", "debug_ranges", "debug_rnglists", "debug_addr", "debug_str_offsets", "debug_aranges"}
	section := func(data []byte, name string) *contents {
		if len(data) == 0 {
			return nil
		}
		return &contents{name: "." + name, r: bytes.NewReader(data), size: uint64(len(data))}
	}
	for _, flags := range [][]string{{}, {"-gdwarf-4"}, {"-gdwarf-2"}, {"-gdwarf-5", "-gdwarf64"}, {"-gdwarf-4", "-fdebug-types-section"}, {"-gdwarf-5", "-gsplit-dwarf"}} {
		data := compiled(f, flags...)
		if data == nil {
			continue
		}
		file := parseELF(f, data)
		var args [10][]byte
		for i, name := range names {
			if s := file.section("." + name); s != nil {
				args[i], _ = file.data(s, name)
			}
		}
		text, _ := file.Section(".text")
		f.Add(args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9], text.Vaddr+8, false)
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line, str, lineStr, ranges, rnglists, addr, strOffsets, aranges []byte, vaddr uint64, big bool) {
		n := len(info) + len(abbrev) + len(line) + len(str) + len(lineStr) + len(ranges) + len(rnglists) + len(addr) + len(strOffsets) + len(aranges)
		bounded(t, n, func() {
			l := &LineTable{
				info:   section(info, "debug_info"),
				abbrev: section(abbrev, "debug_abbrev"), line: section(line, "debug_line"),
				str: section(str, "debug_str"), lineStr: section(lineStr, "debug_line_str"),
				ranges: section(ranges, "debug_ranges"), rnglists: section(rnglists, "debug_rnglists"),
				addr: section(addr, "debug_addr"), strOffsets: section(strOffsets, "debug_str_offsets"),
			}
			if l.info == nil {
				return
			}
			l.info.big = big
			if err := l.open(section(aranges, "debug_aranges")); err != nil {
				return
			}
			for a := range uint64(16) {
				checkFrames(t, l, vaddr+a)
			}
			for i, s := range l.index {
				checkFrames(t, l, s.lo)
				if i == 16 {
					break
				}
			}
		})
	})
}

func FuzzMiniDebug(f *testing.F) {
	mini := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: []testSection{
		text(".text", 0x100, 0x40),
		{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: []testSymbol{fun("hidden", 0x110, 8)}},
	}}.build(f)
	f.Add(compressXZ(f, mini))
	f.Add(compressXZ(f, bytes.Repeat(mini, 50)))
	f.Add(compressXZ(f, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The expansion is bounded too.
		bounded(t, len(data)*maxDebugData, func() {
			table, err := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: []testSection{
				{name: ".gnu_debugdata", typ: elf.SHT_PROGBITS, data: data},
			}}.parse(t).Symbols()
			checkTable(t, table, err)
		})
	})
}

func FuzzDex(f *testing.F) {
	for _, kind := range []dexKind{{magic: dex035}, {magic: dex041, container: 0x20}, {magic: cdex001}} {
		data, _ := buildDex(kind, []dexClass{
			{"Lcom/example/Main;", []dexMethodCode{{"<init>", 4}, {"main", 30}}, []dexMethodCode{{"run", 7}, {"native", -1}}},
			{"LEmpty;", nil, nil},
		})
		f.Add(data, uint64(kind.container))
	}
	f.Fuzz(func(t *testing.T, data []byte, off uint64) {
		bounded(t, len(data), func() {
			table, err := DexSymbols(bytes.NewReader(data), int64(len(data)), off)
			if (table == nil) == (err == nil) {
				t.Fatalf("value and error: %v, %v", table, err)
			}
			if err != nil {
				return
			}
			for i := range min(len(table.spans), 100) {
				s := table.symbol(i)
				if got, ok := table.Lookup(s.Addr); s.Len > 0 && (!ok || got.Addr != s.Addr) {
					t.Errorf("lookup of the address of %v: got %v, %v", s, got, ok)
				}
			}
		})
	})
}

func FuzzKallsyms(f *testing.F) {
	f.Add("ffffffff81000000 T _text\nffffffff81000100 t b\n\nffffffffc0203ff0 t init\t[snd]\nffffffffc0209000 W last\t[usb]\n")
	f.Add("0000000000000000 T a\n")
	f.Fuzz(func(t *testing.T, list string) {
		bounded(t, len(list), func() {
			kallsyms, err := ParseKallsyms(strings.NewReader(list))
			if err != nil {
				return
			}
			checkTable(t, kallsyms.SymbolTable, nil)
			_ = kallsyms.ReadModules(strings.NewReader(list)) // mostly an error
		})
	})
}

func FuzzPerfMap(f *testing.F) {
	f.Add("3ef414c0 398 RegExp:[{(]\n0x3ef418a0 0x398 name with spaces\n3ef418b0 10 inside\n3ef41890 20 over\n")
	f.Fuzz(func(t *testing.T, list string) {
		bounded(t, len(list), func() {
			table, err := ParsePerfMap(strings.NewReader(list))
			checkTable(t, table, err)
		})
	})
}

func FuzzJITDump(f *testing.F) {
	for _, big := range []bool{false, true} {
		w := newJITFile(big, 0)
		w.load(10, 0x1000, 0x10, 1, "first")
		w.record(jitCodeDebugInfo, 11, []byte("anything"))
		w.load(20, 0x1008, 0x10, 2, "second")
		w.move(40, 0x1008, 0x3000, 0x10, 2)
		w.record(jitCodeClose, 70, nil)
		f.Add(w.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bounded(t, len(data), func() {
			d, err := ParseJITDump(bytes.NewReader(data))
			if (d == nil) == (err == nil) {
				t.Fatalf("value and error: %v, %v", d, err)
			}
			if err != nil {
				return
			}
			for _, l := range d.Loads {
				if s, ok := d.Lookup(l.Time, l.Addr); ok && l.Addr-s.Addr >= s.Len {
					t.Errorf("lookup of %v: got %v", l, s)
				}
			}
			for _, m := range d.Moves {
				d.Lookup(m.Time, m.NewAddr)
				d.Lookup(m.Time, m.OldAddr)
			}
		})
	})
}

func FuzzZip(f *testing.F) {
	archive, _, _ := testZip(f)
	f.Add(archive, "classes.dex", uint64(60))
	f.Add(archive, "lib/arm64-v8a/libfoo.so", uint64(500))
	f.Fuzz(func(t *testing.T, data []byte, name string, off uint64) {
		r, size := bytes.NewReader(data), int64(len(data))
		// Deflate expands up to 1032 times.
		bounded(t, 10*len(data), func() {
			section, err := OpenZipEntry(r, size, name)
			if (section == nil) == (err == nil) {
				t.Fatalf("value and error: %v, %v", section, err)
			}
			if err == nil {
				if n, err := io.Copy(io.Discard, section); n != section.Size() || err != nil {
					t.Errorf("read %d bytes of %d: %v", n, section.Size(), err)
				}
			} else if errors.Is(err, io.ErrUnexpectedEOF) && size == 0 {
				t.Errorf("empty archive: %v", err)
			}
			if _, start, n, ok := ZipEntryAtOffset(r, size, off); ok && (start < 0 || n < 0 || start+n > size || uint64(start) > off || off >= uint64(start+n)) {
				t.Errorf("entry at %#x: [%d, +%d) of %d bytes", off, start, n, size)
			}
		})
	})
}
