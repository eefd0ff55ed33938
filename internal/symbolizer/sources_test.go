package symbolizer

import (
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

const (
	idA = "aa02030405060708090a0b0c0d0e0f1011121314"
	idB = "bb02030405060708090a0b0c0d0e0f1011121314"
)

// named is a file with one function.
func named(id, function string) objectstest.ELF {
	return objectstest.ELF{BuildID: id, Vaddr: 0x1000, Symbols: []objectstest.Symbol{{Name: function, Addr: 0x1100, Size: 0x40}}}
}

// TestSources: where names come from first.
func TestSources(t *testing.T) {
	lib := func(id, function string) *fstest.MapFile { return named(id, function).File(t) }
	linked := named(idA, "exported")
	linked.DebugLink = "a.dbg"
	recorded := &perffile.SymbolFile{Path: "/lib/a.so", Type: perffile.DSOELF, MinVaddr: 0x1000, OffsetOfMinVaddr: 0x1000, HasOffset: true, Symbols: []perffile.Symbol{{Addr: 0x1100, Len: 0x20, Name: "recorded"}}}
	for _, test := range []struct {
		name     string
		recorded *perffile.SymbolFile
		symfs    *objects.Store
		id       string // of the mapping
		want     string
		warning  string
	}{
		{"nothing", nil, nil, idA, "/lib/a.so 1110", ""},
		{"recording", recorded, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idA, "file")}), idA, "/lib/a.so 1110 recorded=1100", ""},
		{"files, where the recording has no name", &perffile.SymbolFile{Path: "/lib/a.so", Type: perffile.DSOELF, MinVaddr: 0x1000, OffsetOfMinVaddr: 0x1000, HasOffset: true}, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idA, "file")}), idA, "/lib/a.so 1110 file=1100", ""},
		{"the build ID, then the path", nil, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idA, "path"), ".build-id/aa/" + idA[2:] + "/elf": lib(idA, "id")}), idA, "/lib/a.so 1110 id=1100", ""},
		{"the path, then the name", nil, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idA, "path"), "a.so": lib(idA, "name")}), idA, "/lib/a.so 1110 path=1100", ""},
		{"the name, then anywhere", nil, objectstest.Stored(fstest.MapFS{"b/x": lib(idA, "anywhere"), "a.so": lib(idA, "name")}), idA, "/lib/a.so 1110 name=1100", ""},
		{"anywhere by build ID", nil, objectstest.Stored(fstest.MapFS{"b/x": lib(idA, "anywhere")}), idA, "/lib/a.so 1110 anywhere=1100", ""},
		{"but not without one", nil, objectstest.Stored(fstest.MapFS{"b/x": lib(idA, "anywhere")}), "", "/lib/a.so 1110", ""},
		{"the first directory", nil, objectstest.Stored(fstest.MapFS{"a.so": lib(idA, "first")}, fstest.MapFS{"lib/a.so": lib(idA, "second")}), idA, "/lib/a.so 1110 first=1100", ""},
		{"the next if that has another build", nil, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idB, "first")}, fstest.MapFS{"lib/a.so": lib(idA, "second")}), idA, "/lib/a.so 1110 second=1100", "symfs0/lib/a.so is not used: its build ID is " + idB + ", that of the recording " + idA},
		{"another build is refused", nil, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idB, "file")}), idA, "/lib/a.so 1110", "symfs0/lib/a.so is not used"},
		{"so is one without build ID", nil, objectstest.Stored(fstest.MapFS{"lib/a.so": lib("", "file")}), idA, "/lib/a.so 1110", "symfs0/lib/a.so is not used: its build ID is absent"},
		{"but not if the recording has none", nil, objectstest.Stored(fstest.MapFS{"lib/a.so": lib(idB, "file")}), "", "/lib/a.so 1110 file=1100", ""},
		{"nor is a file of that name elsewhere, which is not worth a warning", nil, objectstest.Stored(fstest.MapFS{"a.so": lib(idB, "file")}), idA, "/lib/a.so 1110", ""},
		{
			"debug file by build ID", nil,
			objectstest.Stored(fstest.MapFS{".build-id/aa/" + idA[2:] + "/elf": objectstest.ELF{BuildID: idA, Vaddr: 0x1000}.File(t), ".build-id/aa/" + idA[2:] + ".debug": lib(idA, "debug")}),
			idA, "/lib/a.so 1110 debug=1100", "",
		},
		{
			"debug file by link, which knows more than the file", nil,
			objectstest.Stored(fstest.MapFS{"lib/a.so": linked.File(t), "lib/.debug/a.dbg": lib(idA, "debug")}),
			idA, "/lib/a.so 1110 debug=1100", "",
		},
		{
			"debug file of another build", nil,
			objectstest.Stored(fstest.MapFS{"lib/a.so": linked.File(t), "lib/a.dbg": lib(idB, "debug")}),
			idA, "/lib/a.so 1110 exported=1100", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			z := New(Options{Objects: test.symfs})
			if test.recorded != nil {
				z.addRecorded(test.recorded)
			}
			f := userFrame(0x7000_0110, perfsession.Mapping{Start: 0x7000_0000, End: 0x7000_1000, PgOff: 0x1000}, "/lib/a.so")
			f.Map.DSO.BuildID = test.id
			if got := symbolString(z.Symbolize(f, kernelDSO(), 0)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			checkWarnings(t, z, test.warning)
			// A second time nothing is searched or said again.
			f.Addr++
			z.Symbolize(f, kernelDSO(), 0)
			checkWarnings(t, z, test.warning)
		})
	}
}

// checkWarnings expects one warning that contains want, or none.
func checkWarnings(t *testing.T, z *Symbolizer, want string) {
	t.Helper()
	switch w := z.Warnings(); {
	case want == "" && len(w) > 0, want != "" && (len(w) != 1 || !strings.Contains(w[0], want)):
		t.Errorf("warnings %q, want %q", w, want)
	}
}

// TestFileAddresses: addresses of perf are offsets in the file; its program headers say
// where that is in memory as the linker saw it.
func TestFileAddresses(t *testing.T) {
	e := objectstest.ELF{Vaddr: 0x40_1000, Symbols: []objectstest.Symbol{{Name: "f", Addr: 0x40_1100, Size: 0x40}, {Name: "g", Addr: 0x40_1140, Size: 0}}}
	d := &perfsession.DSO{Path: "/a (deleted)"} // replaced while it was in use
	for _, test := range []struct {
		addr, pgoff uint64
		want        string
	}{
		{0x5000_0100, 0x1000, "/a (deleted) 401100 f=401100"},
		{0x5000_013f, 0x1000, "/a (deleted) 40113f f=401100"},
		{0x5000_0140, 0x1000, "/a (deleted) 401140 g=401140"},
		{0x5000_00ff, 0x1000, "/a (deleted) 4010ff"},
		{0x5000_1110, 0, "/a (deleted) 401110 f=401100"},
		{0x5000_0110, 0, "/a (deleted) 110"}, // in no segment
	} {
		m := &perfsession.Mapping{Start: 0x5000_0000, End: 0x5001_0000, PgOff: test.pgoff, DSO: d}
		// simpleperf's recordings may lack the FILE feature, or the file in it.
		for _, simpleperf := range []bool{false, true} {
			z := New(Options{Simpleperf: simpleperf, Objects: objectstest.Stored(fstest.MapFS{"a": e.File(t)})})
			if got := symbolString(z.Symbolize(perfsession.Frame{Addr: test.addr, Map: m}, kernelDSO(), 0)); got != test.want {
				t.Errorf("%#x, simpleperf %t: got %s, want %s", test.addr, simpleperf, got, test.want)
			}
		}
	}
}

// TestBuiltins: V8 pushes the start of a builtin, the address before which is padding.
func TestBuiltins(t *testing.T) {
	e := objectstest.ELF{Vaddr: 0x1000, Symbols: []objectstest.Symbol{
		{Name: "f", Addr: 0x1100, Size: 0x40},
		{Name: "Builtins_Enter", Addr: 0x1180, Size: 0x20},
		{Name: "other", Addr: 0x11c0, Size: 0x20},
		{Name: "Builtins_Next", Addr: 0x11e0, Size: 0x20},
	}}
	z := New(Options{Objects: objectstest.Stored(fstest.MapFS{"a": e.File(t)})})
	m := &perfsession.Mapping{Start: 0x5000_0000, End: 0x5001_0000, PgOff: 0x1000, DSO: &perfsession.DSO{Path: "/a"}}
	for addr, want := range map[uint64]string{
		0x5000_017f: "/a 1180 Builtins_Enter=1180",
		0x5000_017e: "/a 117e",
		0x5000_01bf: "/a 11bf",
		0x5000_01df: "/a 11df other=11c0",
	} {
		if got := symbolString(z.Symbolize(perfsession.Frame{Addr: addr, Map: m}, kernelDSO(), 0)); got != want {
			t.Errorf("%#x: got %s, want %s", addr, got, want)
		}
	}
}

// TestInlined: functions inlined at an address are innermost first, below the name that
// the recording has for the function itself.
func TestInlined(t *testing.T) {
	z := New(Options{Objects: objectstest.Stored(fstest.MapFS{"message-heap": objectstest.ReadFile(t, heapBinary)})})
	z.addRecorded(&perffile.SymbolFile{
		Type: perffile.DSOELF,
		Path: heapPath, MinVaddr: 0x401000, OffsetOfMinVaddr: 0x1000, HasOffset: true,
		Symbols: []perffile.Symbol{{Addr: 0x401000, Len: 0x2000, Name: "_Z8recordedv"}},
	})
	found := false
	for addr := uint64(0x401000); addr < 0x403000; addr++ {
		f := z.Symbolize(perfsession.Frame{Addr: addr, Map: mapped(heapPath, heapID)}, nil, 0).Frames
		n := len(f)
		if n == 0 || f[n-1].SystemName != "_Z8recordedv" || f[n-1].Name != "recorded()" {
			t.Fatalf("%#x: %+v", addr, f)
		}
		if n > 1 && f[0].Name == "heap_first_child" {
			found = true
			if f[0].StartLine == 0 || f[0].Line < f[0].StartLine || f[n-1].Line == 0 || f[n-1].Line == f[0].Line {
				t.Fatalf("%#x: %+v", addr, f)
			}
		}
	}
	if !found {
		t.Error("heap_first_child is nowhere")
	}
}

// TestAPK: libraries are mapped out of the archive, under its name or that of the entry.
func TestAPK(t *testing.T) {
	const entry = "lib/arm64/libx.so"
	archive := func(id, function string) *fstest.MapFile {
		return objectstest.APK(t, entry, named(id, function).Build(t))
	}
	start := func(f *fstest.MapFile) uint64 {
		return uint64(strings.Index(string(f.Data), "\x7fELF"))
	}
	a := archive(idA, "packed")
	text := perfsession.Mapping{Start: 0x7000_0000, End: 0x7000_1000, PgOff: 0x1000}
	whole := perfsession.Mapping{Start: 0x7000_0000, End: 0x7000_1000, PgOff: start(a) + 0x1000}
	manifest := perfsession.Mapping{Start: 0x7000_0000, End: 0x7000_1000}
	for _, test := range []struct {
		name    string
		files   fstest.MapFS
		m       perfsession.Mapping
		path    string
		id      string
		want    string
		warning string
	}{
		{"entry", fstest.MapFS{"data/base.apk": a}, text, "/data/base.apk!/" + entry, idA, "/data/base.apk!/" + entry + " 1110 packed=1100", ""},
		{"entry without build ID", fstest.MapFS{"data/base.apk": a}, text, "/data/base.apk!/" + entry, "", "/data/base.apk!/" + entry + " 1110 packed=1100", ""},
		{"entry of another build", fstest.MapFS{"data/base.apk": a}, text, "/data/base.apk!/" + entry, idB, "/data/base.apk!/" + entry + " 1110", "symfs0/data/base.apk!/" + entry + " is not used: its build ID is " + idA + ", that of the recording " + idB},
		{"which is said once", fstest.MapFS{"base.apk": a}, text, "/base.apk!/" + entry, idB, "/base.apk!/" + entry + " 1110", "is not used"},
		{"another entry", fstest.MapFS{"data/base.apk": a}, text, "/data/base.apk!/lib/arm64/liby.so", idA, "/data/base.apk!/lib/arm64/liby.so 1110", ""},
		{"library beside the archive", fstest.MapFS{"data/base.apk": a, "libx.so": named(idB, "beside").File(t)}, text, "/data/base.apk!/" + entry, idB, "/data/base.apk!/" + entry + " 1110 beside=1100", "base.apk!/" + entry + " is not used"},
		{"by build ID before the archive", fstest.MapFS{"data/base.apk": a, ".build-id/aa/" + idA[2:] + "/elf": named(idA, "id").File(t)}, text, "/data/base.apk!/" + entry, idA, "/data/base.apk!/" + entry + " 1110 id=1100", ""},
		{"archive as a whole", fstest.MapFS{"data/base.apk": a}, whole, "/data/base.apk", "", "/data/base.apk 1110 packed=1100", ""},
		{"archive by its name", fstest.MapFS{"base.apk": a}, whole, "/data/base.apk", "", "/data/base.apk 1110 packed=1100", ""},
		{"beside the entries", fstest.MapFS{"data/base.apk": a}, manifest, "/data/base.apk", "", "/data/base.apk 110", ""},
		{"no archive", fstest.MapFS{"data/base.apk": named("", "f").File(t)}, whole, "/data/base.apk", "", "/data/base.apk " + hexString(start(a)+0x1110), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			z := New(Options{Objects: objectstest.Stored(test.files)})
			f := userFrame(0x7000_0110, test.m, test.path)
			f.Map.DSO.BuildID = test.id
			for range 2 { // the second time out of what is remembered
				if got := symbolString(z.Symbolize(f, kernelDSO(), 0)); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
			}
			checkWarnings(t, z, test.warning)
		})
	}
}

func hexString(n uint64) string {
	const digits = "0123456789abcdef"
	if n < 16 {
		return digits[n : n+1]
	}
	return hexString(n/16) + digits[n%16:n%16+1]
}

// TestPerfMapOrder: the list of a compiler names what no file does.
func TestPerfMapOrder(t *testing.T) {
	list := &fstest.MapFile{Data: []byte("70000100 40 _Z8compiledv\n")}
	m := perfsession.Mapping{Start: 0x7000_0000, End: 0x7000_1000, PgOff: 0x1000, PID: 42}
	anon := userFrame(0x7000_0110, m, perfsession.AnonPath)
	kernel := kernelFrame(0x7000_0110, m, "/x.ko")
	lib := userFrame(0x7000_0110, m, "/a.so")
	for _, test := range []struct {
		name  string
		files fstest.MapFS
		frame perfsession.Frame
		want  string
	}{
		{"memory", fstest.MapFS{"tmp/perf-42.map": list}, anon, "//anon 70000110 _Z8compiledv=70000100"},
		{"list beside", fstest.MapFS{"perf-42.map": list}, anon, "//anon 70000110 _Z8compiledv=70000100"},
		{"another process", fstest.MapFS{"tmp/perf-43.map": list}, anon, "//anon 1110"},
		{"a file that is not here", fstest.MapFS{"tmp/perf-42.map": list}, lib, "/a.so 70000110 _Z8compiledv=70000100"},
		{"a file with another name for it", fstest.MapFS{"tmp/perf-42.map": list, "a.so": named("", "file").File(t)}, lib, "/a.so 1110 file=1100"},
		{"a file without a name for it", fstest.MapFS{"tmp/perf-42.map": list, "a.so": objectstest.ELF{Vaddr: 0x1000}.File(t)}, lib, "/a.so 1110"},
		{"the kernel", fstest.MapFS{"tmp/perf-42.map": list}, kernel, "/x.ko 1110"},
	} {
		z := New(Options{Objects: objectstest.Stored(test.files)})
		if got := symbolString(z.Symbolize(test.frame, kernelDSO(), 0)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// jitDump is the file of a compiler that puts all functions at one place.
func jitDump(addr uint64, functions ...string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, 1<<32|0x4a695444)
	for _, v := range []uint32{40, uint32(elf.EM_X86_64), 0, 10, 0, 0, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	for i, name := range functions {
		b = le.AppendUint32(b, 0) // JIT_CODE_LOAD
		b = le.AppendUint32(b, uint32(16+40+len(name)+1+16))
		for _, v := range []uint64{uint64(10 * (i + 1)), 10<<32 | 10, addr, addr, 16, uint64(i)} {
			b = le.AppendUint64(b, v)
		}
		b = append(append(b, name...), make([]byte, 1+16)...)
	}
	return b
}

// TestJITFunctions: which function was at an address depends on the time.
func TestJITFunctions(t *testing.T) {
	files := fstest.MapFS{"tmp/jit-10.dump": {Data: jitDump(0x8000, "_Z5firstv", "second")}}
	for _, test := range []struct {
		name       string
		monotonic  bool
		path       string
		pid        int32
		time, addr uint64
		want       string
		warning    string
	}{
		{"before the first", true, "/tmp/jit-10.dump", 10, 9, 0x8004, "", ""},
		{"the first", true, "/tmp/jit-10.dump", 10, 10, 0x8004, "first()", ""},
		{"until the second", true, "/tmp/jit-10.dump", 10, 19, 0x800f, "first()", ""},
		{"the second", true, "/tmp/jit-10.dump", 10, 20, 0x8000, "second", ""},
		{"behind it", true, "/tmp/jit-10.dump", 10, 20, 0x8010, "", ""},
		{"another process", true, "/tmp/jit-10.dump", 11, 20, 0x8000, "", ""},
		{"by another path", true, "/home/me/.debug/jit/jit-10.dump", 10, 20, 0x8000, "", ""},
		{"another clock", false, "/tmp/jit-10.dump", 10, 10, 0x8004, "second", "the recording has another clock"},
	} {
		z := New(Options{Objects: objectstest.Stored(files)})
		z.Monotonic = test.monotonic
		z.AddJITDump("/tmp/other.so")
		if z.HasJITDumps() {
			t.Errorf("%s: a library is a jitdump file", test.name)
		}
		z.AddJITDump(test.path)
		if !z.HasJITDumps() {
			t.Errorf("%s: %s is no jitdump file", test.name, test.path)
		}
		got := ""
		if id := z.JITFunction(test.pid, test.time, test.addr); id != 0 {
			if again := z.JITFunction(test.pid, test.time, test.addr); again != id {
				t.Errorf("%s: the same function is %d and %d", test.name, id, again)
			}
			f := userFrame(test.addr, perfsession.Mapping{Start: 0x8000, End: 0x9000}, perfsession.AnonPath)
			sym := z.Symbolize(f, kernelDSO(), id)
			if sym.Start != 0x8000 || sym.Vaddr != test.addr {
				t.Errorf("%s: %s", test.name, symbolString(sym))
			}
			got = sym.Frames[0].Name
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		checkWarnings(t, z, test.warning)
	}
	z := New(Options{})
	z.AddJITDump("/tmp/jit-10.dump")
	if z.HasJITDumps() {
		t.Error("there are jitdump files without a place to look for them")
	}
}

func TestIsJITDump(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/jit-10.dump": true, "jit-10.dump": true, "/home/me/.debug/jit/x/jit-2147483647.dump": true,
		"/tmp/jit-.dump": false, "/tmp/jit-x.dump": false, "/tmp/jit-10.dump.old": false, "/tmp/myjit-10.dump": false,
		"/jit-10.dump/lib.so": false, "/tmp/10.dump": false, "/tmp/jit-10": false, "/tmp/jit-2147483648.dump": false, "": false,
	} {
		if got := IsJITDump(path); got != want {
			t.Errorf("IsJITDump(%q) = %t", path, got)
		}
	}
}

// TestKernel: names of the kernel's code.
func TestKernel(t *testing.T) {
	const text = 0xffffffff_81000000
	table := func(lines string) *objects.Kallsyms {
		k, err := objects.ParseKallsyms("kallsyms", strings.NewReader(lines))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	kallsyms := table("ffffffffa1000100 T listed\nffffffffa1000140 T next\nffffffffc0002000 t mod_fn [nf]\n")
	recorded := &perffile.SymbolFile{Path: "[kernel.kallsyms]", Type: perffile.DSOKernel, Symbols: []perffile.Symbol{{Addr: 0xffffffffa1000100, Len: 0x20, Name: "recorded"}}}
	vmlinux := objectstest.ELF{BuildID: idA, Type: elf.ET_EXEC, Vaddr: text, Symbols: []objectstest.Symbol{{Name: "linked", Addr: text + 0x100, Size: 0x40}}}
	withVmlinux := objectstest.Stored(fstest.MapFS{"vmlinux": vmlinux.File(t)})
	shifted := perfsession.Mapping{Start: 0xffffffffa1000000, End: 1<<64 - 1}
	// What is left of the kernel's mapping behind one that covers a part of it.
	piece := perfsession.Mapping{Start: 0xffffffffa1000080, End: 1<<64 - 1, PgOff: 0x80}
	image := func(addr uint64, m perfsession.Mapping, id string) perfsession.Frame {
		f := kernelFrame(addr, m, perfsession.KernelPath)
		f.Map.DSO.BuildID, f.Map.DSO.Text = id, 0xffffffffa1000000
		return f
	}
	// On AArch64 the code starts behind a head.
	headed := objectstest.ELF{BuildID: idA, Type: elf.ET_EXEC, Vaddr: text, Symbols: []objectstest.Symbol{{Name: "_text", Addr: text - 0x1000}, {Name: "linked", Addr: text + 0x100, Size: 0x40}}}
	named := func(reference string) perfsession.Frame {
		f := image(0xffffffffa1001110, shifted, idA)
		f.Map.DSO.Reference = reference
		return f
	}
	simpleperfImage := image(0x110, perfsession.Mapping{End: 1<<64 - 1}, idA)
	simpleperfImage.Map.DSO.Text = 0
	module := func(addr uint64) perfsession.Frame {
		return kernelFrame(addr, perfsession.Mapping{Start: 0xffffffffc0002000, End: 0xffffffffc0003000}, "/lib/modules/nf.ko")
	}
	announced := kernelFrame(0xffffffffc0005010, perfsession.Mapping{Start: 0xffffffffc0005000, End: 0xffffffffc0005100}, "bpf_prog_1")
	announced.Map.DSO.Symbol = "bpf_prog_1"
	ko := objectstest.ELF{Type: elf.ET_REL, Symbols: []objectstest.Symbol{{Name: "ko_fn", Addr: 0, Size: 0x40}}}
	for _, test := range []struct {
		name     string
		recorded *perffile.SymbolFile
		opt      Options
		frame    perfsession.Frame
		want     string
	}{
		{"recorded first", recorded, Options{Kallsyms: kallsyms, Objects: withVmlinux}, image(0xffffffffa1000110, shifted, idA), "[kernel.kallsyms] ffffffffa1000110 recorded=ffffffffa1000100"},
		{"then kallsyms", recorded, Options{Kallsyms: kallsyms, Objects: withVmlinux}, image(0xffffffffa1000130, shifted, idA), "[kernel.kallsyms] ffffffffa1000130 listed=ffffffffa1000100"},
		{"which is of the addresses that ran", nil, Options{Kallsyms: kallsyms}, image(text+0x110, shifted, ""), "[kernel.kallsyms] ffffffff81000110"},
		{"then vmlinux, which is linked elsewhere", nil, Options{Objects: withVmlinux}, image(0xffffffffa1000110, shifted, idA), "[kernel.kallsyms] ffffffffa1000110 linked=ffffffffa1000100"},
		{"vmlinux by build ID", nil, Options{Objects: objectstest.Stored(fstest.MapFS{"deep/vmlinux-6.1": vmlinux.File(t)})}, image(0xffffffffa1000110, shifted, idA), "[kernel.kallsyms] ffffffffa1000110 linked=ffffffffa1000100"},
		{"also where the mapping was cut", nil, Options{Objects: withVmlinux}, image(0xffffffffa1000110, piece, idA), "[kernel.kallsyms] ffffffffa1000110 linked=ffffffffa1000100"},
		{"not where nothing tells where the kernel was", nil, Options{Objects: withVmlinux}, simpleperfImage, "[kernel.kallsyms] 110"},
		{"not without a build ID", nil, Options{Objects: withVmlinux}, image(0xffffffffa1000110, shifted, ""), "[kernel.kallsyms] ffffffffa1000110"},
		{"by the reference symbol, which is not at the start of .text everywhere", nil, Options{Objects: objectstest.Stored(fstest.MapFS{"vmlinux": headed.File(t)})}, named("_text"), "[kernel.kallsyms] ffffffffa1001110 linked=ffffffffa1001100"},
		{"not where vmlinux lacks it", nil, Options{Objects: withVmlinux}, named("_text"), "[kernel.kallsyms] ffffffffa1001110"},
		{"not of another build", nil, Options{Objects: withVmlinux}, image(0xffffffffa1000110, shifted, idB), "[kernel.kallsyms] ffffffffa1000110"},
		{"not where the kernel is unknown", nil, Options{Objects: withVmlinux}, perfsession.Frame{Addr: text + 0x110, Kernel: true}, "[kernel.kallsyms] ffffffff81000110"},
		{"kallsyms without a mapping", nil, Options{Kallsyms: kallsyms}, perfsession.Frame{Addr: 0xffffffffa1000110, Kernel: true}, "[kernel.kallsyms] ffffffffa1000110 listed=ffffffffa1000100"},
		{"module in kallsyms", nil, Options{Kallsyms: kallsyms}, module(0xffffffffc0002010), "[kernel.kallsyms] ffffffffc0002010 mod_fn [nf]=ffffffffc0002000"},
		{"module by its file", nil, Options{Kallsyms: kallsyms, Objects: objectstest.Stored(fstest.MapFS{"lib/modules/nf.ko": ko.File(t)})}, module(0xffffffffc0002010), "/lib/modules/nf.ko 10 ko_fn=0"},
		{"module without names", nil, Options{}, module(0xffffffffc0002010), "/lib/modules/nf.ko 10"},
		{"announced code", recorded, Options{Kallsyms: kallsyms}, announced, "bpf_prog_1 ffffffffc0005010 bpf_prog_1=ffffffffc0005000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			z := New(test.opt)
			if test.recorded != nil {
				z.addRecorded(test.recorded)
			}
			if got := symbolString(z.Symbolize(test.frame, kernelDSO(), 0)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
