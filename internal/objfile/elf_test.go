package objfile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perfdata opens a file of a directory of recordings that is not part of the
// repository.
func perfdata(t *testing.T, name string) *File {
	t.Helper()
	f, err := Open(filepath.Join("..", "..", "..", "shared", "perfdata", "simpleperf", name))
	if err != nil {
		t.Skipf("the recordings in ../shared/perfdata are not here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestArch(t *testing.T) {
	tests := []struct {
		machine elf.Machine
		class32 bool
		big     bool
		want    string
	}{
		{machine: elf.EM_X86_64, want: "x86_64"},
		{machine: elf.EM_X86_64, class32: true, want: "x86_64"}, // x32
		{machine: elf.EM_386, class32: true, want: "386"},
		{machine: elf.EM_AARCH64, want: "aarch64"},
		{machine: elf.EM_ARM, class32: true, want: "arm"},
		{machine: elf.EM_RISCV, want: "riscv64"},
		{machine: elf.EM_RISCV, class32: true, want: "riscv32"},
		{machine: elf.EM_PPC64, big: true, want: "ppc64"},
		{machine: elf.EM_PPC64, want: "ppc64le"},
		{machine: elf.EM_S390, big: true, want: "s390x"},
		{machine: elf.EM_MIPS, big: true, want: "mips64"},
		{machine: elf.EM_MIPS, class32: true, want: "mips"},
		{machine: elf.EM_LOONGARCH, want: "loongarch64"},
		{machine: 0x1234, want: "machine-4660"},
	}
	for _, test := range tests {
		f := elfImage{machine: test.machine, class32: test.class32, big: test.big}.parse(t)
		if got := f.Arch(); got != test.want {
			t.Errorf("machine %v, 32-bit %v, big-endian %v: got %q, want %q", test.machine, test.class32, test.big, got, test.want)
		}
	}
}

// eachKind runs a test for all classes and byte orders.
func eachKind(t *testing.T, test func(t *testing.T, im elfImage)) {
	for _, class32 := range []bool{false, true} {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("class32=%v,big=%v", class32, big), func(t *testing.T) {
				test(t, elfImage{class32: class32, big: big, typ: elf.ET_DYN, machine: elf.EM_X86_64})
			})
		}
	}
}

func TestBuildID(t *testing.T) {
	id := []byte{0xde, 0xad, 0xbe, 0xef, 1}
	const want = "deadbeef01"
	eachKind(t, func(t *testing.T, im elfImage) {
		other := note(im.big, "GNU", 1, []byte{1, 2, 3, 4}, 4)
		golang := note(im.big, "Go", 4, []byte("abc"), 4)
		wanted := note(im.big, "GNU", noteGNUBuildID, id, 4)
		tests := []struct {
			name       string
			section    []byte
			align      uint64
			noSections bool
			want       string
		}{
			{name: "none", section: other},
			{name: "only", section: wanted, want: want},
			{name: "after others", section: slices.Concat(other, golang, wanted), want: want},
			{name: "aligned to 8", section: slices.Concat(note(im.big, "GNU", 5, []byte{1, 2, 3, 4, 5}, 8), note(im.big, "GNU", noteGNUBuildID, id, 8)), align: 8, want: want},
			{name: "in segment", section: slices.Concat(golang, wanted), noSections: true, want: want},
			{name: "name of another vendor", section: note(im.big, "GNUX", noteGNUBuildID, id, 4)},
			{name: "cut short", section: wanted[:len(wanted)-4]},
			{name: "no room for a header", section: wanted[:10]},
		}
		for _, test := range tests {
			im := im
			im.noSections = test.noSections
			im.sections = []testSection{{name: ".note", typ: elf.SHT_NOTE, data: test.section, align: max(test.align, 4)}}
			im.segments = []testSegment{{typ: elf.PT_NOTE, section: ".note", align: max(test.align, 4)}}
			if got := im.parse(t).BuildID(); got != test.want {
				t.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
		}
	})
}

func TestSegments(t *testing.T) {
	eachKind(t, func(t *testing.T, im elfImage) {
		im.segments = []testSegment{
			{typ: elf.PT_NOTE, flags: elf.PF_X, vaddr: 1, off: 1, filesz: 1},
			{typ: elf.PT_LOAD, flags: elf.PF_R, vaddr: 0x0, off: 0, filesz: 0x1800, memsz: 0x1800},
			{typ: elf.PT_LOAD, flags: elf.PF_R | elf.PF_X, vaddr: 0x9000, off: 0x5000, filesz: 0x800, memsz: 0x800},
			{typ: elf.PT_LOAD, flags: elf.PF_R | elf.PF_X, vaddr: 0x3000, off: 0x1000, filesz: 0x1000, memsz: 0x1000},
			{typ: elf.PT_LOAD, flags: elf.PF_R | elf.PF_W, vaddr: 0xb000, off: 0x2000, filesz: 0x10, memsz: 0x5000},
		}
		f := im.parse(t)
		want := []Segment{
			{0x0, 0, 0x1800, 0x1800, false},
			{0x9000, 0x5000, 0x800, 0x800, true},
			{0x3000, 0x1000, 0x1000, 0x1000, true},
			{0xb000, 0x2000, 0x10, 0x5000, false},
		}
		if diff := cmp.Diff(want, f.Segments()); diff != "" {
			t.Errorf("segments (-want +got):\n%s", diff)
		}
		if vaddr, off := f.minExecutableVaddr(); vaddr != 0x3000 || off != 0x1000 {
			t.Errorf("MinExecutableVaddr: got %#x, %#x, want 0x3000, 0x1000", vaddr, off)
		}
		for _, test := range []struct {
			off, want uint64
			ok        bool
		}{
			{0xfff, 0xfff, true},
			{0x1000, 0x3000, true}, // the executable segment goes before the other
			{0x1fff, 0x3fff, true},
			{0x200f, 0xb00f, true},
			{0x2010, 0, false},
			{0x5000, 0x9000, true},
			{math.MaxUint64, 0, false},
		} {
			if got, ok := f.VaddrOfOffset(test.off); got != test.want || ok != test.ok {
				t.Errorf("VaddrOfOffset(%#x): got %#x, %v, want %#x, %v", test.off, got, ok, test.want, test.ok)
			}
		}
	})
	vaddr, off := elfImage{machine: elf.EM_AARCH64}.parse(t).minExecutableVaddr()
	if vaddr != 0 || off != 0 {
		t.Errorf("MinExecutableVaddr without program headers: got %#x, %#x, want 0, 0", vaddr, off)
	}
}

func TestText(t *testing.T) {
	code := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	im := elfImage{machine: elf.EM_X86_64, sections: []testSection{
		{name: ".text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: 0x1000, data: code},
		{name: ".cold", typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: 0x2000, size: 16},
		{name: ".data", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: 0x3000, data: code},
	}, segments: []testSegment{
		{typ: elf.PT_LOAD, flags: elf.PF_X, vaddr: 0x1000, section: ".text"},
		{typ: elf.PT_LOAD, vaddr: 0x3000, section: ".data"},
	}}
	for _, noSections := range []bool{false, true} {
		im.noSections = noSections
		f := im.parse(t)
		for _, test := range []struct {
			vaddr, n uint64
			want     []byte
		}{
			{0x1000, 8, code},
			{0x1003, 2, code[3:5]},
			{0x1008, 0, nil},
			{0x1003, 6, nil},
			{0x1003, math.MaxUint64, nil},
			{0x0fff, 1, nil},
			{0x2000, 1, nil}, // no contents in the file
			{0x3000, 1, nil}, // not code
		} {
			got, err := f.Text(test.vaddr, test.n)
			if !bytes.Equal(got, test.want) || (err == nil) != (test.want != nil) {
				t.Errorf("no sections %v: Text(%#x, %d): got %v, %v, want %v", noSections, test.vaddr, test.n, got, err, test.want)
			}
			if err != nil && !errors.Is(err, ErrNotFound) {
				t.Errorf("Text(%#x, %d): error %q does not wrap ErrNotFound", test.vaddr, test.n, err)
			}
		}
	}
}

func TestDebugLink(t *testing.T) {
	eachKind(t, func(t *testing.T, im elfImage) {
		w := newWriter(im.big)
		w.WriteString("libfoo.debug\x00")
		w.pad(4)
		w.u32(0xcafe1234)
		im.sections = []testSection{
			{name: ".gnu_debuglink", typ: elf.SHT_PROGBITS, data: w.Bytes()},
			{name: ".gnu_debugaltlink", typ: elf.SHT_PROGBITS, data: []byte("../.dwz/foo\x00\x01\xab")},
		}
		f := im.parse(t)
		if name, crc, ok := f.DebugLink(); name != "libfoo.debug" || crc != 0xcafe1234 || !ok {
			t.Errorf("DebugLink: got %q, %#x, %v", name, crc, ok)
		}
		if name, id, ok := f.AltDebugLink(); name != "../.dwz/foo" || id != "01ab" || !ok {
			t.Errorf("AltDebugLink: got %q, %q, %v", name, id, ok)
		}
		im.sections[0].data = w.Bytes()[:14]
		im.sections[1].data = []byte("not terminated")
		f = im.parse(t)
		if name, _, ok := f.DebugLink(); ok {
			t.Errorf("DebugLink cut short: got %q", name)
		}
		if name, _, ok := f.AltDebugLink(); ok {
			t.Errorf("AltDebugLink cut short: got %q", name)
		}
		im.sections = nil
		if _, _, ok := im.parse(t).DebugLink(); ok {
			t.Error("DebugLink of a file without: got one")
		}
	})
}

func TestNewErrors(t *testing.T) {
	good := elfImage{machine: elf.EM_X86_64, segments: []testSegment{{typ: elf.PT_LOAD}}}.build(t)
	edit := func(off int, b ...byte) []byte {
		data := slices.Clone(good)
		copy(data[off:], b)
		return data
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "ELF header: not an ELF file at 0x0"},
		{"text", []byte("#!/bin/sh\n"), "ELF header: not an ELF file at 0x0"},
		{"short", good[:40], "ELF header: needs 8 bytes, has 0 at 0x28"},
		{"class", edit(4, 9), "ELF header: unknown class 9 at 0x6"},
		{"byte order", edit(5, 9), "ELF header: unknown byte order 9 at 0x6"},
		{"program headers outside", edit(32, 0xff, 0xff, 0xff, 0xff), "program headers: 56 bytes exceed the file of 264 bytes at 0xffffffff"},
		{"program headers too many", edit(56, 0xfe, 0xff), "program headers: 65534 entries exceed the file at 0x40"},
		{"program headers too small", edit(54, 31), "program headers: entries of 31 bytes at 0x40"},
	}
	for _, test := range tests {
		_, err := New(bytes.NewReader(test.data), int64(len(test.data)))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got error %v, want %s", test.name, err, test.want)
		}
	}
}

// TestBrokenSections checks that a file without usable section headers is still
// good for what the program headers say.
func TestBrokenSections(t *testing.T) {
	im := elfImage{machine: elf.EM_ARM, class32: true, after: 1 << 20, sections: []testSection{
		{name: ".note", typ: elf.SHT_NOTE, data: note(false, "GNU", noteGNUBuildID, []byte{1, 2}, 4)},
	}, segments: []testSegment{
		{typ: elf.PT_LOAD, flags: elf.PF_X, vaddr: 0x1000, off: 0x10},
		{typ: elf.PT_NOTE, section: ".note"},
	}}
	f := im.parse(t)
	if got, want := f.BuildID(), "0102"; got != want {
		t.Errorf("build ID: got %q, want %q", got, want)
	}
	if vaddr, off := f.minExecutableVaddr(); vaddr != 0x1000 || off != 0x10 {
		t.Errorf("MinExecutableVaddr: got %#x, %#x", vaddr, off)
	}
	var format *FormatError
	if _, err := f.Symbols(); !errors.As(err, &format) {
		t.Errorf("Symbols: got error %v, want a FormatError", err)
	}
	if _, err := f.Lines(); !errors.As(err, &format) {
		t.Errorf("Lines: got error %v, want a FormatError", err)
	}
}

func TestAndroidFiles(t *testing.T) {
	tests := []struct {
		name, arch, buildID string
		vaddr, offset       uint64
		symbols             []Symbol
	}{
		{
			"elf", "x86_64", "0b12a384a9f4a3f3659b7171ca615dbec3a81f71", 0x400000, 0,
			[]Symbol{{0x4004ed, 21, "CalledFunc"}, {0x400502, 37, "GlobalFunc"}, {0x4003f0, 16, "__gmon_start__@plt"}},
		},
		{
			"elf_with_mini_debug_info", "x86_64", "c154176c7dea1566895f8409d898c950a0bf4620", 0x400000, 0,
			[]Symbol{{0x4004ed, 21, "CalledFunc"}, {0x400502, 37, "GlobalFunc"}, {0x4003f0, 16, "__gmon_start__@plt"}},
		},
		{
			// simpleperf samples 0x1094 and 0x1104 of it, called from 0x113c and
			// 0x1140, and names them Function1(), Function2() and main.
			"simpleperf_runtest_two_functions_arm64", "aarch64", "b4f1b49b0fe9e34e78fb14e5374c930c", 0x1000, 0x1000,
			[]Symbol{{0x104c, 112, "_Z9Function1v"}, {0x10bc, 112, "_Z9Function2v"}, {0x112c, 28, "main"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := perfdata(t, test.name)
			if got := f.Arch(); got != test.arch {
				t.Errorf("arch: got %q, want %q", got, test.arch)
			}
			if got := f.BuildID(); got != test.buildID {
				t.Errorf("build ID: got %q, want %q", got, test.buildID)
			}
			if vaddr, off := f.minExecutableVaddr(); vaddr != test.vaddr || off != test.offset {
				t.Errorf("MinExecutableVaddr: got %#x, %#x, want %#x, %#x", vaddr, off, test.vaddr, test.offset)
			}
			symbols, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			if err := symbols.Skipped(); err != nil {
				t.Errorf("skipped: %v", err)
			}
			for _, want := range test.symbols {
				for _, addr := range []uint64{want.Addr, want.Addr + want.Len - 1} {
					if got, ok := symbols.Lookup(addr); got != want || !ok {
						t.Errorf("symbol at %#x: got %v, want %v", addr, got, want)
					}
				}
			}
		})
	}
}
