package symbolizer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// symbolString says what a symbol says: FILE VADDR FRAME…, innermost first. A frame is
// NAME=START, with the name as the symbol table has it; interpreted and compiled Java are
// marked.
func symbolString(s Symbol) string {
	words := []string{"-"}
	if s.DSO != nil {
		words[0] = s.DSO.Path
	}
	words = append(words, fmt.Sprintf("%x", s.Vaddr))
	for _, f := range s.Frames {
		words = append(words, f.SystemName)
	}
	if len(s.Frames) > 0 {
		words[len(words)-1] += fmt.Sprintf("=%x", s.Start)
	}
	switch s.Execution {
	case Interpreted:
		words = append(words, "interpreted")
	case JIT:
		words = append(words, "JIT")
	}
	return strings.Join(words, " ")
}

func kernelDSO() *perfsession.DSO {
	return &perfsession.DSO{ID: 100, Path: perfsession.KernelPath, Kernel: true}
}

// userFrame is an address in the only mapping of a file.
func userFrame(addr uint64, m perfsession.Mapping, path string) perfsession.Frame {
	m.DSO = &perfsession.DSO{Path: path}
	return perfsession.Frame{Addr: addr, Map: &m}
}

func kernelFrame(addr uint64, m perfsession.Mapping, path string) perfsession.Frame {
	m.DSO = &perfsession.DSO{Path: path, Kernel: true}
	return perfsession.Frame{Addr: addr, Map: &m, Kernel: true}
}

// TestRecorded: names from the recording, by kind of file. Each kind has its own way
// from the address in memory to the address of the symbol.
func TestRecorded(t *testing.T) {
	names := func(from uint64) []perffile.Symbol {
		return []perffile.Symbol{{Addr: from, Len: 0x10, Name: "f"}, {Addr: from + 0x10, Len: 0x8, Name: "g"}, {Addr: from + 0x20, Len: 0x100, Name: "h"}}
	}
	at := perfsession.Mapping{Start: 0x7000_0000, End: 0x7010_0000, PgOff: 0x3000}
	jitMap := at
	jitMap.Prot = 1 | perfsession.ProtJITSymFile
	module := perfsession.Mapping{Start: 0xffffffffc0000000, End: 0xffffffffc0010000}
	for _, test := range []struct {
		name  string
		linux bool // not by simpleperf
		file  perffile.SymbolFile
		frame perfsession.Frame
		want  string
	}{
		{
			"ELF file whose first code is known", false,
			perffile.SymbolFile{Path: "/a.so", Type: perffile.DSOELF, MinVaddr: 0x5000, OffsetOfMinVaddr: 0x1000, HasOffset: true, Symbols: names(0x7000)},
			userFrame(0x7000_0004, at, "/a.so"), "/a.so 7004 f=7000",
		},
		{
			"ELF file of old recordings", false,
			perffile.SymbolFile{Path: "/a.so", Type: perffile.DSOELF, MinVaddr: 0x5000, Symbols: names(0x5000)},
			userFrame(0x7000_0011, at, "/a.so"), "/a.so 5011 g=5010",
		},
		{
			"ELF file without symbols", false,
			perffile.SymbolFile{Path: "/a.so", Type: perffile.DSOELF, MinVaddr: 0x5000, OffsetOfMinVaddr: 0x1000, HasOffset: true},
			userFrame(0x7000_0004, at, "/a.so"), "/a.so 7004",
		},
		{
			"simpleperf: another file", false,
			perffile.SymbolFile{Path: "/a.so", Type: perffile.DSOELF, Symbols: names(0)},
			userFrame(0x7000_0004, at, "/b.so"), "/b.so 4",
		},
		{
			"perf: another file", true,
			perffile.SymbolFile{Path: "/a.so", Type: perffile.DSOELF, Symbols: names(0)},
			userFrame(0x7000_0004, at, "/b.so"), "/b.so 3004",
		},
		{
			"mappings of compiled methods", false,
			perffile.SymbolFile{Path: "/data/app_jit_app_cache:0-100", Type: perffile.DSOELF, MinVaddr: 0x5000, OffsetOfMinVaddr: 0x1000, HasOffset: true, Symbols: names(0x7000_0000)},
			userFrame(0x7000_0020, jitMap, "/data/app_jit_app_cache:0-100"), "/data/app_jit_app_cache:0-100 70000020 h=70000020 JIT",
		},
		{
			"of the zygote", false,
			perffile.SymbolFile{Path: "/data/a_jit_zygote_cache:0-100", Type: perffile.DSOELF},
			userFrame(0x7000_0020, jitMap, "/data/a_jit_zygote_cache:0-100"), "/data/a_jit_zygote_cache:0-100 70000020 JIT",
		},
		{
			"in temporary files", false,
			perffile.SymbolFile{Path: "/data/TemporaryFile-x", Type: perffile.DSOELF},
			userFrame(0x7000_0020, jitMap, "/data/TemporaryFile-x"), "/data/TemporaryFile-x 70000020 JIT",
		},
		{
			"a directory of that name is nothing special", false,
			perffile.SymbolFile{Path: "/TemporaryFile/x", Type: perffile.DSOELF},
			userFrame(0x7000_0020, at, "/TemporaryFile/x"), "/TemporaryFile/x 20",
		},
		{
			"files of another kind are not", false,
			perffile.SymbolFile{Path: "/data/TemporaryFile-y", Type: perffile.DSOUnknown},
			userFrame(0x7000_0020, at, "/data/TemporaryFile-y"), "/data/TemporaryFile-y 70000020",
		},
		{
			"DEX file", false,
			perffile.SymbolFile{Path: "/base.vdex", Type: perffile.DSODex, MinVaddr: 0x5000, Symbols: names(0x3000)},
			userFrame(0x7000_0004, at, "/base.vdex"), "/base.vdex 3004 f=3000 interpreted",
		},
		{
			"symbol map", false,
			perffile.SymbolFile{Path: "/tmp/perf-1.map", Type: perffile.DSOSymbolMap, MinVaddr: 0x5000, Symbols: names(0x7000_0000)},
			userFrame(0x7000_0004, at, "/tmp/perf-1.map"), "/tmp/perf-1.map 70000004 f=70000000",
		},
		{
			"unknown file", false,
			perffile.SymbolFile{Path: "//anon", Type: perffile.DSOUnknown, Symbols: names(0x7000_0000)},
			userFrame(0x7000_0004, at, "//anon"), "//anon 70000004 f=70000000",
		},
		{
			"kernel", false,
			perffile.SymbolFile{Path: "[kernel.kallsyms]", Type: perffile.DSOKernel, MinVaddr: 0xffffffff81000000, Symbols: names(0xffffffff81000100)},
			kernelFrame(0xffffffff81000104, perfsession.Mapping{End: 1<<64 - 1}, perfsession.KernelPath), "[kernel.kallsyms] ffffffff81000104 f=ffffffff81000100",
		},
		{
			"kernel without a mapping", false,
			perffile.SymbolFile{Path: "[kernel.kallsyms]", Type: perffile.DSOKernel, Symbols: names(0xffffffff81000100)},
			perfsession.Frame{Addr: 0xffffffff81000104, Kernel: true},
			"[kernel.kallsyms] ffffffff81000104 f=ffffffff81000100",
		},
		{
			"kernel sample at a user address", false,
			perffile.SymbolFile{Path: "[kernel.kallsyms]", Type: perffile.DSOKernel, Symbols: names(0x1000)},
			perfsession.Frame{Addr: 0x1000, Kernel: true},
			"- 1000",
		},
		{
			"a guest's kernel", false,
			perffile.SymbolFile{Path: "[kernel.kallsyms]", Type: perffile.DSOKernel, Symbols: names(0xffffffff81000100)},
			perfsession.Frame{Addr: 0xffffffff81000104, Kernel: true, Guest: true},
			"- ffffffff81000104",
		},
		{
			"nothing", false,
			perffile.SymbolFile{Path: "/a.so", Type: perffile.DSOELF, Symbols: names(0)},
			perfsession.Frame{Addr: 4},
			"- 4",
		},
		{
			"module", false,
			perffile.SymbolFile{Path: "/wlan.ko", Type: perffile.DSOKernelModule, MinVaddr: 0x100, OffsetOfMinVaddr: 0x2000, Symbols: names(0x100)},
			kernelFrame(0xffffffffc0002004, module, "/wlan.ko"), "/wlan.ko 104 f=100",
		},
		{
			"simpleperf: module without symbols", false,
			perffile.SymbolFile{Path: "/x.ko", Type: perffile.DSOKernelModule},
			kernelFrame(0xffffffffc0002004, module, "/wlan.ko"), "[kernel.kallsyms] ffffffffc0002004",
		},
		{
			"perf: module without symbols", true,
			perffile.SymbolFile{Path: "/x.ko", Type: perffile.DSOKernelModule},
			kernelFrame(0xffffffffc0002004, module, "/wlan.ko"), "/wlan.ko 2004",
		},
		{"before the first symbol", false, perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: names(0x100)}, userFrame(0x7000_00ff, at, "/a"), "/a ff"},
		{"first byte", false, perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: names(0x100)}, userFrame(0x7000_0100, at, "/a"), "/a 100 f=100"},
		{"last byte", false, perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: names(0x100)}, userFrame(0x7000_0117, at, "/a"), "/a 117 g=110"},
		{"gap", false, perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: names(0x100)}, userFrame(0x7000_0118, at, "/a"), "/a 118"},
		{"behind the last", false, perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: names(0x100)}, userFrame(0x7000_0220, at, "/a"), "/a 220"},
		{
			"symbols in any order", false,
			perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: []perffile.Symbol{{Addr: 0x20, Len: 8, Name: "b"}, {Addr: 0x10, Len: 8, Name: "a"}, {Addr: 0x30, Len: 8, Name: "c"}}},
			userFrame(0x7000_0012, at, "/a"), "/a 12 a=10",
		},
		{
			// As simpleperf, which looks at the last one that starts before.
			"a symbol in another ends that", false,
			perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: []perffile.Symbol{{Addr: 0, Len: 0x100, Name: "outer"}, {Addr: 0x10, Len: 0x10, Name: "inner"}}},
			userFrame(0x7000_0020, at, "/a"), "/a 20",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			z := New(Options{Simpleperf: !test.linux})
			z.addRecorded(&test.file)
			sym := z.Symbolize(test.frame, kernelDSO(), 0)
			if got := symbolString(sym); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if m := test.frame.Map; m != nil && sym.DSO == m.DSO && z.Execution(m.DSO) != sym.Execution {
				t.Errorf("Execution of the file is %v, of the symbol %v", z.Execution(m.DSO), sym.Execution)
			}
		})
	}
}

// TestNames: names come from the source; the names in the symbol table are kept beside.
func TestNames(t *testing.T) {
	for _, test := range []struct{ system, name string }{
		{"main", "main"},
		{"_ZN3app5QueueIiE4pushEOi", "app::Queue<int>::push(int&&)"},
		{"_ZNSt3mapIiSt6vectorIiSaIiEESt4lessIiESaISt4pairIKiS2_EEEixEOi", "std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > >::operator[](int&&)"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"java.lang.String.length", "java.lang.String.length"},
		{"_Z", "_Z"},
	} {
		frame := userFrame(0x10, perfsession.Mapping{End: 0x1000}, "/a")
		fromFile := objectstest.ELF{Symbols: []objectstest.Symbol{{Name: test.system, Addr: 0, Size: 0x100}}}
		for _, source := range []struct {
			name string
			z    *Symbolizer
		}{
			{"recorded", New(Options{Simpleperf: true})},
			{"file", New(Options{Objects: objectstest.Stored(fstest.MapFS{"a": fromFile.File(t)})})},
		} {
			if source.name == "recorded" {
				source.z.addRecorded(&perffile.SymbolFile{Path: "/a", Type: perffile.DSOELF, Symbols: []perffile.Symbol{{Addr: 0, Len: 0x100, Name: test.system}}})
			} else {
				frame.Map.PgOff = objectstest.TextOffset
			}
			sym := source.z.Symbolize(frame, kernelDSO(), 0)
			want := []Frame{{Name: test.name, SystemName: test.system}}
			if diff := cmp.Diff(want, sym.Frames); diff != "" {
				t.Errorf("%s: %s", source.name, diff)
			}
		}
	}
}

// TestJavaMethods: methods of DEX files come by path, in the order of their code.
func TestJavaMethods(t *testing.T) {
	z := New(Options{Simpleperf: true})
	for _, f := range []*perffile.SymbolFile{
		{Path: "/b.vdex", Type: perffile.DSODex, Symbols: []perffile.Symbol{{Addr: 20, Len: 1, Name: "b.two"}, {Addr: 10, Len: 1, Name: "b.one"}}},
		{Path: "/lib.so", Type: perffile.DSOELF, Symbols: []perffile.Symbol{{Addr: 0, Len: 1, Name: "native"}}},
		{Path: "/a.vdex", Type: perffile.DSODex, Symbols: []perffile.Symbol{{Addr: 30, Len: 1, Name: "a.three"}}},
	} {
		z.addRecorded(f)
	}
	var got []string
	z.JavaMethods(func(f *perffile.SymbolFile, s perffile.Symbol) { got = append(got, f.Path+" "+s.Name) })
	if want := []string{"/a.vdex a.three", "/b.vdex b.one", "/b.vdex b.two"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
