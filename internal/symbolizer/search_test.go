package symbolizer

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perfsession"
)

// The binary of a case study, with symbols and debug information.
const (
	heapBinary  = "../../profiles/message-heap/symbols/data/local/tmp/message-heap/before/message-heap"
	otherBinary = "../../profiles/message-heap/symbols/data/local/tmp/message-heap/after/message-heap"
	heapID      = "128cc5d6793eb04ee6c21e4bef13754f9687420e"
	heapPath    = "/data/local/tmp/message-heap/before/message-heap"
)

// mapped is a mapping of the text of the test binary as the kernel makes it: the
// second segment of a static program.
func mapped(path, id string) *perfsession.Mapping {
	return &perfsession.Mapping{
		Start: 0x401000, End: 0x481000, PgOff: 0x1000,
		DSO: &perfsession.DSO{Path: path, BuildID: id},
	}
}

// TestSymbolize names addresses of the test binary: message_compare is at 0x401980,
// and heap_first_child is inlined into heap_sift_down.
func TestSymbolize(t *testing.T) {
	heap := objectstest.ReadFile(t, heapBinary)
	archive := objectstest.APK(t, "lib/libx.so", heap.Data)
	start := uint64(bytes.Index(archive.Data, heap.Data[:64]))
	for _, test := range []struct {
		name  string
		files fstest.MapFS
		m     *perfsession.Mapping
		addr  uint64
	}{
		{"file", fstest.MapFS{heapPath[1:]: heap}, mapped(heapPath, heapID), 0x401985},
		{"library in an APK by its path", fstest.MapFS{"base.apk": archive}, mapped("/data/base.apk!/lib/libx.so", heapID), 0x401985},
		{
			"APK mapped as a whole",
			fstest.MapFS{"data/base.apk": archive},
			&perfsession.Mapping{Start: 0x7000000000, End: 0x7000080000, PgOff: start + 0x1000, DSO: &perfsession.DSO{Path: "/data/base.apk"}}, 0x7000000985,
		},
	} {
		z := New(Options{Objects: objectstest.Stored(test.files)})
		sym := z.Symbolize(perfsession.Frame{Addr: test.addr, Map: test.m}, nil, 0)
		if len(sym.Frames) != 1 || sym.Frames[0].Name != "message_compare" || sym.Frames[0].Line == 0 || !strings.HasSuffix(sym.Frames[0].File, "message_heap.c") {
			t.Errorf("%s: %+v", test.name, sym)
		}
		if sym.Vaddr != 0x401985 || sym.Start != 0x401980 {
			t.Errorf("%s: address %#x in function at %#x", test.name, sym.Vaddr, sym.Start)
		}
	}

	z := New(Options{Objects: objectstest.Stored(fstest.MapFS{"message-heap": heap})})
	place := perfsession.Frame{Addr: 0x401985, Map: mapped(heapPath, heapID)}
	before := z.Symbolize(place, nil, 0)
	z.Forget(place.Map.DSO)
	if diff := cmp.Diff(before, z.Symbolize(place, nil, 0)); diff != "" {
		t.Errorf("after what was read of the file was forgotten: -before +after\n%s", diff)
	}
	inlined := 0
	for addr := uint64(0x401000); addr < 0x403000; addr++ {
		sym := z.Symbolize(perfsession.Frame{Addr: addr, Map: mapped(heapPath, heapID)}, nil, 0)
		if n := len(sym.Frames); n > 1 && sym.Frames[0].Name == "heap_first_child" {
			inlined++
			if outer := sym.Frames[n-1]; outer.Name != "heap_sift_down" || outer.StartLine == 0 {
				t.Fatalf("%#x: inlined into %+v", addr, outer)
			}
		}
	}
	if inlined == 0 {
		t.Error("heap_first_child is nowhere")
	}
}

// TestPerfMap names code that a compiler made while the program ran.
func TestPerfMap(t *testing.T) {
	list := &fstest.MapFile{Data: []byte("7f0000001000 40 LazyCompile:~work app.js:1\n7f0000002000 10 other\n")}
	z := New(Options{Objects: objectstest.Stored(fstest.MapFS{"tmp/perf-42.map": list})})
	for _, test := range []struct {
		pid  int32
		addr uint64
		want string
	}{
		{42, 0x7f0000001010, "LazyCompile:~work app.js:1"},
		{42, 0x7f0000001040, ""},
		{43, 0x7f0000001010, ""},
	} {
		m := &perfsession.Mapping{Start: 0x7f0000000000, End: 0x7f0000010000, PID: test.pid, DSO: &perfsession.DSO{Path: perfsession.AnonPath}}
		sym := z.Symbolize(perfsession.Frame{Addr: test.addr, Map: m}, nil, 0)
		got := ""
		if len(sym.Frames) > 0 {
			got = sym.Frames[0].Name
		}
		if got != test.want {
			t.Errorf("process %d, address %#x is %q, want %q", test.pid, test.addr, got, test.want)
		}
	}
}

func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"main":         "main",
		"_Z3fooi":      "foo(int)",
		"_ZN1aC1Ev":    "a::a()",
		"_Z3fooi@plt":  "foo(int)@plt",
		"malloc@plt":   "malloc@plt",
		"__dl__Z3fooi": "[linker]foo(int)",
		"__dl_memcpy":  "[linker]memcpy",
		"_ZNotMangled": "_ZNotMangled",
		"_RNvC1a4main": "a::main",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE":                                            "core::fmt::Formatter::pad",
		"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE":                   "std::sys::backtrace::__rust_begin_short_backtrace",
		"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE": "<alloc::string::String as core::fmt::Display>::fmt",
		"_ZN1a2_b17h0123456789abcdefE.llvm.1234567890.cold":                                         "a::_b (.cold)",
		"_RNvC1a4main.llvm.12":                           "a::main",
		"_RNvC1a4main.cold":                              "a::main (.cold)",
		"_RINvC1a1bINtC1c1dINtC1c1dlEEE":                 "a::b::<c::d<c::d<i32>>>",
		"_ZN1a99999999999999999999b17h0123456789abcdefE": "_ZN1a99999999999999999999b17h0123456789abcdefE",
		"_ZNSt6vectorIS_IiSaIiEESaIS1_EE9push_backEOS1_": "std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, std::allocator<int> > > >::push_back(std::vector<int, std::allocator<int> >&&)",
		"_ZN1srsIiEERS_S1_T_":                            "s& s::operator>><int>(s&, int)",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("Demangle(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestFramesAt names addresses of a file that is known.
func TestFramesAt(t *testing.T) {
	z := New(Options{Objects: objectstest.Stored(fstest.MapFS{"heap": objectstest.ReadFile(t, heapBinary)})})
	o, _, err := z.opt.Objects.Code(objects.Recorded{Path: "/heap", BuildID: heapID}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if frames := z.FramesAt(o, 0x401985); len(frames) == 0 || frames[len(frames)-1].Name != "message_compare" || frames[0].Line == 0 {
		t.Errorf("%+v", frames)
	}
	if frames := z.FramesAt(o, 1); frames != nil {
		t.Errorf("an address without code has %+v", frames)
	}
}
