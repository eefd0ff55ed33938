package objfile

import (
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func symbols(t *testing.T, im elfImage) []Symbol {
	t.Helper()
	table, err := im.parse(t).Symbols()
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(table.All()); len(got) != table.Len() {
		t.Errorf("Len is %d, All yields %d", table.Len(), len(got))
	}
	return slices.Collect(table.All())
}

func fun(name string, value, size uint64) testSymbol {
	return testSymbol{name, value, size, elf.STT_FUNC, elf.STB_GLOBAL, ".text"}
}

func TestSymbols(t *testing.T) {
	const (
		global = elf.STB_GLOBAL
		weak   = elf.STB_WEAK
		local  = elf.STB_LOCAL
	)
	tests := []struct {
		name    string
		machine elf.Machine
		typ     elf.Type
		symbols []testSymbol
		want    []Symbol
	}{
		{
			name: "types",
			symbols: []testSymbol{
				{"func", 0x100, 8, elf.STT_FUNC, global, ".text"},
				{"ifunc", 0x110, 8, elf.STT_GNU_IFUNC, global, ".text"},
				{"object", 0x120, 8, elf.STT_OBJECT, global, ".text"},
				{"tls", 0x128, 8, elf.STT_TLS, global, ".text"},
				{"section", 0x130, 8, elf.STT_SECTION, local, ".text"},
				{"file", 0x138, 8, elf.STT_FILE, local, ".text"},
				{"label", 0x140, 8, elf.STT_NOTYPE, local, ".text"},
				{"label elsewhere", 0x148, 8, elf.STT_NOTYPE, local, ".other"},
				{"func elsewhere", 0x800, 8, elf.STT_FUNC, local, ".other"},
				{"undefined", 0x150, 8, elf.STT_FUNC, global, ""},
				{"", 0x158, 8, elf.STT_FUNC, global, ".text"},
			},
			want: []Symbol{{0x100, 8, "func"}, {0x110, 8, "ifunc"}, {0x140, 8, "label"}, {0x800, 8, "func elsewhere"}},
		},
		{
			name: "sizes are filled up to the next symbol and the end of the section",
			symbols: []testSymbol{
				fun("a", 0x100, 0), fun("b", 0x110, 4), fun("c", 0x120, 0), fun("c2", 0x120, 0), fun("last", 0x1f0, 0),
				{"other", 0x800, 0, elf.STT_FUNC, global, ".other"},
			},
			want: []Symbol{{0x100, 0x10, "a"}, {0x110, 4, "b"}, {0x120, 0xd0, "c"}, {0x1f0, 0x10, "last"}, {0x800, 0x40, "other"}},
		},
		{
			name: "a function is preferred to a label",
			symbols: []testSymbol{
				{"a", 0x100, 8, elf.STT_NOTYPE, global, ".text"}, {"zzz", 0x100, 8, elf.STT_FUNC, local, ".text"},
			},
			want: []Symbol{{0x100, 8, "zzz"}},
		},
		{
			name: "global, weak, local",
			symbols: []testSymbol{
				{"a", 0x100, 8, elf.STT_FUNC, local, ".text"},
				{"b", 0x100, 8, elf.STT_FUNC, weak, ".text"},
				{"c", 0x100, 8, elf.STT_FUNC, global, ".text"},
				{"d", 0x110, 8, elf.STT_FUNC, local, ".text"},
				{"e", 0x110, 8, elf.STT_FUNC, weak, ".text"},
				{"f", 0x120, 8, elf.STT_FUNC, weak, ".text"},
				{"g", 0x120, 8, elf.STT_FUNC, stbGNUUnique, ".text"},
			},
			want: []Symbol{{0x100, 8, "c"}, {0x110, 8, "e"}, {0x120, 8, "g"}},
		},
		{
			name:    "with a size, and what the other one has beyond it",
			symbols: []testSymbol{fun("a", 0x100, 0), fun("b", 0x100, 8), fun("c", 0x140, 8)},
			want:    []Symbol{{0x100, 0x40, "a"}, {0x100, 8, "b"}, {0x140, 8, "c"}},
		},
		{
			name: "underscores, length, order",
			symbols: []testSymbol{
				fun("__a", 0x100, 8), fun("_long_name", 0x100, 8),
				fun("aaaa", 0x110, 8), fun("zzz", 0x110, 8),
				fun("b", 0x120, 8), fun("a", 0x120, 8), fun("c", 0x120, 8),
				fun("same", 0x130, 4), fun("same", 0x130, 8),
			},
			want: []Symbol{{0x100, 8, "_long_name"}, {0x110, 8, "zzz"}, {0x120, 8, "a"}, {0x130, 8, "same"}},
		},
		{
			name:    "mapping symbols are symbols on x86",
			symbols: []testSymbol{{"$x", 0x100, 0, elf.STT_NOTYPE, local, ".text"}},
			want:    []Symbol{{0x100, 0x100, "$x"}},
		},
		{
			name: "mapping symbols of AArch64", machine: elf.EM_AARCH64,
			symbols: []testSymbol{
				fun("f", 0x100, 8),
				{"$x", 0x100, 0, elf.STT_NOTYPE, local, ".text"},
				{"$d", 0x104, 0, elf.STT_NOTYPE, local, ".text"},
				{"$x.1", 0x104, 0, elf.STT_NOTYPE, local, ".text"},
				{"__dl_$d", 0x104, 0, elf.STT_NOTYPE, local, ".text"},
				{"$xyz", 0x108, 4, elf.STT_NOTYPE, local, ".text"},
				{"$$d", 0x110, 4, elf.STT_NOTYPE, local, ".text"},
			},
			want: []Symbol{{0x100, 8, "f"}, {0x108, 4, "$xyz"}, {0x110, 4, "$$d"}},
		},
		{
			name: "mapping symbols of RISC-V", machine: elf.EM_RISCV,
			symbols: []testSymbol{
				{"$xrv64i2p1_m2p0", 0x100, 0, elf.STT_NOTYPE, local, ".text"}, {"$d", 0x104, 0, elf.STT_NOTYPE, local, ".text"}, fun("f", 0x102, 8),
			},
			want: []Symbol{{0x102, 8, "f"}},
		},
		{
			name: "Thumb", machine: elf.EM_ARM,
			symbols: []testSymbol{
				fun("thumb", 0x101, 8), fun("arm", 0x110, 8),
				{"$t", 0x100, 0, elf.STT_NOTYPE, local, ".text"},
				{"$a", 0x110, 0, elf.STT_NOTYPE, local, ".text"},
				{"label", 0x121, 2, elf.STT_NOTYPE, local, ".text"},
			},
			want: []Symbol{{0x100, 8, "thumb"}, {0x110, 8, "arm"}, {0x120, 2, "label"}},
		},
		{
			name: "kernel module", typ: elf.ET_REL,
			symbols: []testSymbol{
				fun("f", 0x100, 8), {"init", 0x100, 0x20, elf.STT_FUNC, global, ".other"},
			},
			want: []Symbol{{0x100, 8, "f"}},
		},
		{
			name:    "end of memory",
			symbols: []testSymbol{fun("huge", 0x100, 1<<64-1), fun("f", 0x108, 4)},
			want:    []Symbol{{0x100, 1<<64 - 1 - 0x100, "huge"}, {0x108, 4, "f"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, im elfImage) {
				if im.class32 && test.name == "end of memory" {
					t.Skip("sizes have 32 bits")
				}
				if test.machine != 0 {
					im.machine = test.machine
				}
				if test.typ != 0 {
					im.typ = test.typ
				}
				im.sections = []testSection{
					text(".text", 0x100, 0x100), text(".other", 0x800, 0x40),
					{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: test.symbols},
				}
				if diff := cmp.Diff(test.want, symbols(t, im)); diff != "" {
					t.Errorf("symbols (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestSymbolSources(t *testing.T) {
	mini := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: []testSection{
		{name: ".text", typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: 0x100, size: 0x100},
		{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: []testSymbol{fun("hidden", 0x110, 8), fun("hidden2", 0x130, 8)}},
	}}.build(t)
	symtab := testSection{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: []testSymbol{fun("full", 0x100, 8)}}
	dynsym := testSection{name: ".dynsym", typ: elf.SHT_DYNSYM, symbols: []testSymbol{fun("exported", 0x100, 8), fun("exported2", 0x120, 8)}}
	debugdata := testSection{name: ".gnu_debugdata", typ: elf.SHT_PROGBITS, data: compressXZ(t, mini)}
	broken := testSection{name: ".gnu_debugdata", typ: elf.SHT_PROGBITS, data: []byte("\xfd7zXZ\x00 not really")}
	stripped := testSection{name: ".symtab", typ: elf.SHT_NOBITS}
	plt := []testSection{text(".plt", 0x400, 0x20), text(".plt.sec", 0x420, 0x20), text(".plt.got", 0x440, 8)}
	var (
		full     = []Symbol{{0x100, 8, "full"}}
		exported = []Symbol{{0x100, 8, "exported"}, {0x120, 8, "exported2"}}
		hidden   = []Symbol{{0x110, 8, "hidden"}, {0x130, 8, "hidden2"}}
		union    = []Symbol{exported[0], hidden[0], exported[1], hidden[1]}
	)
	tests := []struct {
		name     string
		sections []testSection
		want     []Symbol
		skipped  bool
		err      bool
	}{
		{name: "symtab alone counts", sections: []testSection{symtab, dynsym, debugdata}, want: full},
		{name: "dynsym", sections: []testSection{dynsym}, want: exported},
		{name: "symtab without contents", sections: []testSection{stripped, dynsym}, want: exported},
		{name: "dynsym and debugdata", sections: []testSection{dynsym, debugdata}, want: union},
		{name: "debugdata", sections: []testSection{debugdata}, want: hidden},
		{name: "dynsym and broken debugdata", sections: []testSection{dynsym, broken}, want: exported, skipped: true},
		{name: "broken debugdata", sections: []testSection{broken}, err: true},
		{name: "none", err: true},
		{
			name: "plt", sections: append([]testSection{dynsym}, plt...),
			want: append(slices.Clone(exported), Symbol{0x400, 0x20, "@plt"}, Symbol{0x420, 0x20, "@plt"}, Symbol{0x440, 8, "@plt"}),
		},
	}
	for _, test := range tests {
		im := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: append([]testSection{text(".text", 0x100, 0x100)}, test.sections...)}
		table, err := im.parse(t).Symbols()
		if err != nil || test.err {
			if !test.err || err == nil || table != nil {
				t.Errorf("%s: got error %v, table %v", test.name, err, table)
			}
			if test.name == "none" && !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: error %q does not wrap ErrNotFound", test.name, err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, slices.Collect(table.All())); diff != "" {
			t.Errorf("%s: symbols (-want +got):\n%s", test.name, diff)
		}
		if (table.Skipped() != nil) != test.skipped {
			t.Errorf("%s: skipped: %v", test.name, table.Skipped())
		}
	}
}

// TestLookup checks the rule for nested and overlapping symbols.
func TestLookup(t *testing.T) {
	im := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: []testSection{
		text(".text", 0, 0x1000),
		{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: []testSymbol{
			fun("outer", 0x100, 100), fun("inner", 0x10a, 10), fun("deepest", 0x10c, 2), fun("tail", 0x120, 4),
			fun("left", 0x200, 50), fun("right", 0x214, 50),
			fun("alone", 0x300, 8),
			{"a place in outer", 0x118, 0, elf.STT_NOTYPE, elf.STB_LOCAL, ".text"},
			{"assembly", 0x400, 0, elf.STT_NOTYPE, elf.STB_LOCAL, ".text"},
			{"sized", 0x11a, 2, elf.STT_NOTYPE, elf.STB_LOCAL, ".text"},
		}},
	}}
	table, err := im.parse(t).Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		addr uint64
		want string
	}{
		{0xff, ""},
		{0x100, "outer"},
		{0x109, "outer"},
		{0x10a, "inner"},
		{0x10c, "deepest"},
		{0x10d, "deepest"},
		{0x10e, "inner"},
		{0x113, "inner"},
		{0x114, "outer"},
		{0x118, "outer"},
		{0x11b, "sized"},
		{0x11f, "outer"},
		{0x120, "tail"},
		{0x124, "outer"},
		{0x163, "outer"},
		{0x164, ""},
		{0x200, "left"},
		{0x213, "left"},
		{0x214, "right"},
		{0x240, "right"},
		{0x246, ""},
		{0x2ff, ""},
		{0x300, "alone"},
		{0x308, ""},
		{0x410, "assembly"},
		{1<<64 - 1, ""},
	} {
		got, ok := table.Lookup(test.addr)
		if got.Name != test.want || ok != (test.want != "") {
			t.Errorf("%#x: got %q, %v, want %q", test.addr, got.Name, ok, test.want)
		}
	}
}

// TestSpans compares the index with a search through all ranges.
func TestSpans(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		n := 1 + rnd.IntN(40)
		if round%20 == 0 {
			n = 2000 // sorted by radix
		}
		space := uint64(4 * n)
		if round%3 == 0 {
			space <<= 40
		}
		list := make(spans, n)
		for i := range list {
			lo := rnd.Uint64N(space)
			list[i] = span{lo: lo, hi: lo + rnd.Uint64N(space/uint64(1+rnd.IntN(20))+1), id: uint32(i)}
		}
		index := slices.Clone(list)
		index.index()
		for range 200 {
			addr := rnd.Uint64N(2 * space)
			best := -1
			for i, s := range list {
				if addr < s.lo || addr >= s.hi {
					continue
				}
				if best < 0 || s.lo > list[best].lo || s.lo == list[best].lo && s.hi <= list[best].hi {
					best = i
				}
			}
			got := -1
			if i := index.find(addr); i >= 0 {
				got = int(index[i].id)
			}
			if got != best {
				t.Fatalf("round %d: find(%#x): got %d, want %d in %v", round, addr, got, best, list)
			}
		}
	}
}

func TestMergeSymbols(t *testing.T) {
	table := func(list string) *SymbolTable {
		m, err := ParsePerfMap(strings.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	got := MergeSymbols(table("10 8 a\n30 8 b\n"), table("10 10 x\n20 8 y\n30 8 y\n"))
	want := []Symbol{{0x10, 0x10, "x"}, {0x10, 8, "a"}, {0x20, 8, "y"}, {0x30, 8, "b"}}
	if diff := cmp.Diff(want, slices.Collect(got.All())); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if got := MergeSymbols().Len(); got != 0 {
		t.Errorf("nothing merged has %d symbols", got)
	}
}

// TestSymbolsMemory checks that names do not become strings before they are asked
// for.
func TestSymbolsMemory(t *testing.T) {
	const n = 20_000
	list := make([]testSymbol, n)
	for i := range list {
		list[i] = fun(fmt.Sprintf("_ZN7profile8function%dEv", i), uint64(16*i), 16)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	f := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: []testSection{
		text(".text", 0, 16*n), {name: ".symtab", typ: elf.SHT_SYMTAB, symbols: list},
	}}.parse(t)
	allocs := testing.AllocsPerRun(5, func() {
		if table, err := f.Symbols(); err != nil || table.Len() != n {
			t.Fatal(table, err)
		}
	})
	if allocs > 50 {
		t.Errorf("%d symbols take %v allocations", n, allocs)
	}
}

func TestMappingSymbol(t *testing.T) {
	for name, want := range map[string]bool{
		"$a": true, "$b": false, "$a.anything": true, "$a_no_dot": false, "$": false, "": false,
		"$xrv32i": true, "$x0": false, "__dl_$t": true, "a$x": false,
	} {
		if got := isMappingSymbol([]byte(name)); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
