package objfile

import (
	"debug/elf"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodeStates(t *testing.T) {
	label := func(name string, value uint64) testSymbol {
		return testSymbol{name, value, 0, elf.STT_NOTYPE, elf.STB_LOCAL, ".text"}
	}
	im := elfImage{class32: true, typ: elf.ET_DYN, machine: elf.EM_ARM, segments: []testSegment{{typ: elf.PT_LOAD, flags: elf.PF_X, vaddr: 0x100, section: ".text"}}, sections: []testSection{
		text(".text", 0x100, 0x100),
		{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: []testSymbol{
			label("$t", 0x100), fun("thumb", 0x101, 0x10), label("$d", 0x110), label("$a", 0x120), fun("arm", 0x120, 0x10),
			label("__dl_$t.1", 0x140), label("$x", 0x160), label("loop", 0x170),
			{"far", 0x1f1, 8, elf.STT_FUNC, elf.STB_GLOBAL, ""},
		}},
	}}
	states := parseELF(t, im.build(t)).CodeStates()
	for vaddr, want := range map[uint64][2]bool{
		0xff: {false, false}, 0x100: {true, true}, 0x10e: {true, true}, 0x118: {true, true}, // data, after all
		0x120: {false, true}, 0x13c: {false, true}, 0x140: {true, true}, 0x1f0: {true, true},
	} {
		thumb, known := states.Thumb(vaddr)
		if got := [2]bool{thumb, known}; got != want {
			t.Errorf("%#x: %v, want %v", vaddr, got, want)
		}
	}
	im.class32, im.machine = false, elf.EM_AARCH64
	if _, known := parseELF(t, im.build(t)).CodeStates().Thumb(0x100); known {
		t.Error("AArch64 has Thumb code")
	}
}

func TestNewSymbolTable(t *testing.T) {
	table := NewSymbolTable([]Symbol{{0x20, 0x10, "b"}, {0x10, 0x8, "a"}, {0x20, 0x10, "_b"}, {0x40, 0, "empty"}})
	var got []Symbol
	for s := range table.All() {
		got = append(got, s)
	}
	want := []Symbol{{0x10, 0x8, "a"}, {0x20, 0x10, "b"}, {0x40, 0, "empty"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s, ok := table.Lookup(0x2f); !ok || s.Name != "b" {
		t.Errorf("%+v, %v", s, ok)
	}
	if n := NewSymbolTable(nil).Len(); n != 0 {
		t.Errorf("%d symbols of none", n)
	}
}
