package traces

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
)

// frameLines lists the functions at each place, outermost last, with file and line.
func frameLines(r *run.Run) string {
	var lines []string
	for _, l := range r.Locations {
		var text []string
		for _, line := range l.Lines {
			f := &r.Functions[line.Function]
			s := f.Name
			if f.File != "" || line.Line != 0 {
				s += fmt.Sprintf(" %s:%d", f.File, line.Line)
			}
			text = append(text, s)
		}
		lines = append(lines, strings.Join(text, " in "))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func moduleSymbols(path, id string, addresses ...*perfettotest.Message) *perfettotest.Message {
	m := message().String(1, path).String(2, id)
	for _, a := range addresses {
		m.Message(3, a)
	}
	return message().Message(int(perfetto.ModuleSymbols), m)
}

func addressSymbols(pc uint64, lines ...*perfettotest.Message) *perfettotest.Message {
	m := message().Uint(1, pc)
	for _, l := range lines {
		m.Message(2, l)
	}
	return m
}

func symbolAt(function, source string, line uint64) *perfettotest.Message {
	return message().String(1, function).String(2, source).Uint(3, line)
}

// TestModuleSymbols checks that symbols which stand behind the samples name them, by file, build ID and address.
func TestModuleSymbols(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	lib := func(pc uint64, id string) perfettotest.Frame {
		return perfettotest.Frame{Mapping: "/usr/lib/libx.so", BuildID: id, RelPC: pc}
	}
	named := lib(0x300, "one")
	named.Function = "recorded"
	s.Perf(1000, perfettotest.Sample{PID: 1, TID: 1, Stack: s.Stack(lib(0x100, "one"), lib(0x200, "one"), named), Count: 1})
	s.Perf(2000, perfettotest.Sample{PID: 1, TID: 1, Stack: s.Stack(lib(0x100, "two")), Count: 2})
	tr.Packet(moduleSymbols("/usr/lib/libx.so", "one",
		addressSymbols(0x100, symbolAt("_ZN3std4sizeEv", "vector.h", 7), symbolAt("main", "main.cc", 42)),
		addressSymbols(0x300, symbolAt("_Z4fullv", "full.cc", 9))))
	tr.Packet(moduleSymbols("/usr/lib/other.so", "one", addressSymbols(0x200, symbolAt("wrong", "", 0))))
	r := readTrace(t, &tr, nil)
	check(t, "names", frameLines(r), `[libx.so]
full() full.cc:9
std::size() vector.h:7 in main main.cc:42`)
	check(t, "samples", samplesOf(r, "cpu-clock"), "/: [libx.so] 1 1\n/: std::size();[libx.so];full() 1 1\n")
	for _, m := range r.Mappings {
		if m.BuildID == fmt.Sprintf("%x", "one") && (!m.HasInlineFrames || !m.HasLineNumbers) {
			t.Errorf("mapping %+v is said to have no lines or inlined functions", m)
		}
	}
}

func deobfuscation(name string, classes ...*perfettotest.Message) *perfettotest.Message {
	m := message().String(1, name)
	for _, c := range classes {
		m.Message(3, c)
	}
	return message().Message(int(perfetto.DeobfuscationMap), m)
}

func obfuscatedClass(obfuscated, original string, methods ...*perfettotest.Message) *perfettotest.Message {
	m := message().String(1, obfuscated).String(2, original)
	for _, method := range methods {
		m.Message(4, method)
	}
	return m
}

// obfuscatedMethod has the lines from, to, source and sourceTo, as many as there are.
func obfuscatedMethod(obfuscated, original string, lines ...uint64) *perfettotest.Message {
	m := message().String(1, obfuscated).String(2, original)
	for i, line := range lines {
		m.Uint(3+i, line)
	}
	return m
}

// TestDeobfuscation has the names of Perfetto's diff_tests in parser/profiling/r8_retrace_compat and
// profile_unknown_package.textproto. There are two differences: where several methods remain, Perfetto shows all of
// them ("A.baz | B.baz"), and profdiff the last one as for --proguard-mapping, and warns; and heap profiles, which some of these
// traces hold, are no samples of time, so PerfSamples stand for them.
func TestDeobfuscation(t *testing.T) {
	const apk = "/data/app/~~abc==/com.example.app-def==/base.apk"
	type frame = perfettotest.Frame
	obfuscated := func(name string, pc uint64) frame { return frame{Function: name, Mapping: apk, RelPC: pc} }
	for _, tt := range []struct {
		name    string
		frames  []frame
		symbols []*perfettotest.Message
		classes []*perfettotest.Message
		want    string
		warns   bool
	}{
		{
			name:   "inline_positions",
			frames: []frame{obfuscated("a.a", 0x1000), obfuscated("a.a", 0x2000), obfuscated("a.a", 0x3000)},
			symbols: []*perfettotest.Message{
				addressSymbols(0x1000, symbolAt("a.a", "Main.java", 1)), addressSymbols(0x2000, symbolAt("a.a", "Main.java", 2)),
				addressSymbols(0x3000, symbolAt("a.a", "Main.java", 3)),
			},
			classes: []*perfettotest.Message{obfuscatedClass("a", "com.example.Main",
				obfuscatedMethod("a", "foo", 1, 1, 54), obfuscatedMethod("a", "test", 1, 1, 50),
				obfuscatedMethod("a", "bar", 2, 2, 59), obfuscatedMethod("a", "foo", 2, 2, 55), obfuscatedMethod("a", "test", 2, 2, 50),
				obfuscatedMethod("a", "baz", 3, 3, 64), obfuscatedMethod("a", "bar", 3, 3, 60), obfuscatedMethod("a", "foo", 3, 3, 55), obfuscatedMethod("a", "test", 3, 3, 50))},
			want: `com.example.Main.bar :59 in com.example.Main.foo :55 in com.example.Main.test :50
com.example.Main.baz :64 in com.example.Main.bar :60 in com.example.Main.foo :55 in com.example.Main.test :50
com.example.Main.foo :54 in com.example.Main.test :50`,
		},
		{
			name:   "horizontal_class_merging",
			frames: []frame{obfuscated("a.a", 1), obfuscated("a.b", 2), obfuscated("a.c", 3)},
			classes: []*perfettotest.Message{obfuscatedClass("a", "com.example.A",
				obfuscatedMethod("c", "foo"), obfuscatedMethod("b", "com.example.B.bar"), obfuscatedMethod("a", "baz"), obfuscatedMethod("a", "com.example.B.baz"))},
			want:  "com.example.A.foo\ncom.example.B.bar\ncom.example.B.baz",
			warns: true,
		},
		{
			name:    "method_overload",
			frames:  []frame{obfuscated("b.a", 1), obfuscated("b.b", 2)},
			classes: []*perfettotest.Message{obfuscatedClass("b", "com.example.StringSupplier", obfuscatedMethod("a", "get"), obfuscatedMethod("b", "get"))},
			want:    "com.example.StringSupplier.get",
		},
		{
			name:    "removed_argument and staticized_method",
			frames:  []frame{obfuscated("a.a", 1)},
			classes: []*perfettotest.Message{obfuscatedClass("a", "com.example.Main", obfuscatedMethod("a", "test"))},
			want:    "com.example.Main.test",
		},
		{
			name:   "vertical_class_merging",
			frames: []frame{obfuscated("a.a", 1), obfuscated("a.b", 2), obfuscated("a.c", 3), obfuscated("a.d", 4)},
			classes: []*perfettotest.Message{
				obfuscatedClass("R8$$REMOVED$$CLASS$$0", "com.example.A"),
				obfuscatedClass("a", "com.example.B", obfuscatedMethod("d", "com.example.A.foo"), obfuscatedMethod("b", "com.example.A.bar"),
					obfuscatedMethod("c", "com.example.A.baz"), obfuscatedMethod("a", "bar")),
			},
			want: "com.example.A.bar\ncom.example.A.baz\ncom.example.A.foo\ncom.example.B.bar",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tr perfettotest.Trace
			s := tr.Sequence(1)
			s.PerfDefaults(0, cpuClock, 0, 1000)
			for i, f := range tt.frames {
				s.Perf(uint64(i+1)*1000, perfettotest.Sample{PID: 100, TID: 100, Stack: s.Stack(f), Count: uint64(i + 1)})
			}
			tr.Packet(moduleSymbols(apk, "", tt.symbols...))
			tr.Packet(deobfuscation("com.other", obfuscatedClass("a", "com.other.Wrong", obfuscatedMethod("a", "wrong"))))
			tr.Packet(deobfuscation("com.example.app", tt.classes...))
			r := readTrace(t, &tr, nil)
			check(t, "names", frameLines(r), tt.want)
			if warns := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "several original names") }); warns != tt.warns {
				t.Errorf("warnings are %q", r.Warnings)
			}
		})
	}
}

// TestPackageOfProcess checks that a file which does not tell its package has that of the process, by its user: one obfuscated
// name is two methods.
func TestPackageOfProcess(t *testing.T) {
	var tr perfettotest.Trace
	p := tr.Sequence(2)
	tree := message()
	for i, name := range []string{"com.google.android.prebuilt1", "com.google.android.prebuilt2"} {
		tree.Message(1, message().Uint(1, uint64(25587+i)).String(3, name).Uint(5, uint64(10037+i)))
	}
	p.Packet(1, message().Message(int(perfetto.ProcessTree), tree))
	p.Packages([]string{"com.google.android.prebuilt1", "com.google.android.prebuilt2"}, []int{10037, 10038})
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	frame := func(name string) perfettotest.Frame {
		return perfettotest.Frame{Function: name, Mapping: "/system/priv-app/Prebuilt.apk"}
	}
	stack := s.Stack(frame("hye.a"), frame("hwe.a"))
	for i := range 4 {
		pid := 25587 + i%2
		s.Perf(uint64(i+1)*1000, perfettotest.Sample{PID: pid, TID: pid, Stack: stack, Count: uint64(i+1) * 1000})
	}
	class := func(obfuscated, original string) *perfettotest.Message {
		return obfuscatedClass(obfuscated, "com.google."+original, obfuscatedMethod("a", "foo"))
	}
	tr.Packet(deobfuscation("com.google.android.prebuilt1", class("hye", "classone"), class("hwe", "classtwo")))
	tr.Packet(deobfuscation("com.google.android.prebuilt2", class("hye", "classthree"), class("hwe", "classfour")))
	r := readTrace(t, &tr, nil)
	check(t, "samples", samplesOf(r, "cpu-clock"), `com.google.android.prebuilt1/com.google.android.prebuilt1: com.google.classone.foo;com.google.classtwo.foo 2 2000
com.google.android.prebuilt2/com.google.android.prebuilt2: com.google.classthree.foo;com.google.classfour.foo 2 2000
`)
	// A mapping that the user gives is asked first.
	m, err := retrace.Parse(strings.NewReader("com.given.Class -> hwe:\n    void given() -> a\n"))
	if err != nil {
		t.Fatal(err)
	}
	r = readTrace(t, &tr, &reading.Options{Retrace: m})
	if got := samplesOf(r, "cpu-clock"); strings.Count(got, "com.given.Class.given") != 2 || !strings.Contains(got, "classthree") {
		t.Errorf("with a mapping:\n%s", got)
	}
}

func TestPackageOf(t *testing.T) {
	for path, want := range map[string]string{
		"/data/app/com.example.app-abc123/base.apk":                                                 "com.example.app",
		"/data/app/~~R4nd0m==/com.example.app-abc==/oat/arm64/base.odex":                            "com.example.app",
		"[anon:dalvik-classes.dex extracted in memory from /data/app/com.example.app-abc/base.apk]": "com.example.app",
		"/data/app/":                        "",
		"/data/app/~~R4nd0m==":              "",
		"/data/app/com.example.app":         "",
		"/system/priv-app/x/data/app/y-1/z": "",
		"/system/framework/framework.jar":   "",
		"":                                  "",
	} {
		if got, known := packageOf(path); got != want || known != (want != "") {
			t.Errorf("packageOf(%q) = %q, %v; want %q", path, got, known, want)
		}
	}
}

// TestRuntimeBetweenJavaFrames checks that frames of the runtime that call Java code are left out, unless they are asked for.
// A native method of the runtime, which Java code calls, and what the runtime does for itself stay.
func TestRuntimeBetweenJavaFrames(t *testing.T) {
	const art, dex = "/apex/com.android.art/lib64/libart.so", "/data/app/x/oat/arm64/base.odex"
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	frame := func(function, file string) perfettotest.Frame {
		return perfettotest.Frame{Function: function, Mapping: file}
	}
	start := []perfettotest.Frame{
		frame("main", "/system/bin/app_process64"), frame("art_quick_invoke_stub", art), frame("com.a.Main.run", dex),
		frame("art_quick_to_interpreter_bridge", art), frame("ExecuteSwitchImplAsm", art), frame("com.a.Main.work", "/data/app/x/base.apk"),
	}
	s.Perf(1000, perfettotest.Sample{PID: 1, TID: 1, Count: 1, Stack: s.Stack(append(slices.Clone(start),
		frame("art_jni_trampoline", "/system/framework/arm64/boot.oat"), frame("Thread_sleep", art), frame("nanosleep", "/lib64/libc.so"))...)})
	s.Perf(2000, perfettotest.Sample{PID: 1, TID: 1, Count: 2, Stack: s.Stack(append(slices.Clone(start), frame("artAllocObject", art))...)})
	s.Perf(3000, perfettotest.Sample{PID: 1, TID: 1, Count: 3, Stack: s.Stack(frame("start_thread", "/lib64/libc.so"), frame("ConcurrentCopying", art))})
	check(t, "hidden", samplesOf(readTrace(t, &tr, nil), "cpu-clock"), `/: main;com.a.Main.run;com.a.Main.work;Thread_sleep;nanosleep 1 1
/: main;com.a.Main.run;com.a.Main.work;artAllocObject 1 1
/: start_thread;ConcurrentCopying 1 1
`)
	check(t, "shown", samplesOf(readTrace(t, &tr, &reading.Options{ShowARTFrames: true}), "cpu-clock"), `/: main;art_quick_invoke_stub;com.a.Main.run;art_quick_to_interpreter_bridge;ExecuteSwitchImplAsm;com.a.Main.work;artAllocObject 1 1
/: main;art_quick_invoke_stub;com.a.Main.run;art_quick_to_interpreter_bridge;ExecuteSwitchImplAsm;com.a.Main.work;art_jni_trampoline;Thread_sleep;nanosleep 1 1
/: start_thread;ConcurrentCopying 1 1
`)
}

// TestFramesOfStacks has the frames of frame_types.textproto and perf_sample_switch_interp.textproto of Perfetto's diff_tests, which
// are all there. What kind of code a frame is (interpreted, of the collector) tells its file here.
func TestFramesOfStacks(t *testing.T) {
	const art = "/apex/com.android.art/lib64/libart.so"
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	var kinds []perfettotest.Frame
	for _, name := range []string{"interp_fn", "custom_fn", "gc_fn", "plain_fn"} {
		kinds = append(kinds, perfettotest.Frame{Function: name, Mapping: "/"})
	}
	s.Perf(1000, perfettotest.Sample{PID: 1, TID: 1, Stack: s.Stack(kinds...), Count: 1})
	s.Perf(2000, perfettotest.Sample{PID: 1, TID: 1, Count: 2, Stack: s.Stack(
		perfettotest.Frame{Function: "com.example.managed.frame", Mapping: "/example.vdex"},
		perfettotest.Frame{Function: "ExecuteSwitchImplAsm", Mapping: art},
		perfettotest.Frame{Function: "_ZN3art11interpreter20ExecuteSwitchImplCppILb0EEEvPNS0_17SwitchImplContextE", Mapping: art},
		perfettotest.Frame{Function: "_ZN3art9ArtMethod6InvokeEPNS_6ThreadEPjjPNS_6JValueEPKc", Mapping: art},
	)})
	kernel := perfettotest.Frame{Function: "do_syscall_64", Mapping: "kernel"}
	s.Perf(3000, perfettotest.Sample{PID: 1, TID: 1, Mode: 1, Count: 3, Stack: s.Stack(kernel, perfettotest.Frame{Mapping: "kernel", RelPC: 1})})
	r := readTrace(t, &tr, nil)
	check(t, "samples", samplesOf(r, "cpu-clock"), `/: com.example.managed.frame;ExecuteSwitchImplAsm;void art::interpreter::ExecuteSwitchImplCpp<false>(art::interpreter::SwitchImplContext*);art::ArtMethod::Invoke(art::Thread*, unsigned int*, unsigned int, art::JValue*, char const*) 1 1
/: do_syscall_64;[kernel.kallsyms] 1 1
/: interp_fn;custom_fn;gc_fn;plain_fn 1 1
`)
	mapped := make(map[string]run.MappingKind)
	for _, m := range r.Mappings {
		mapped[m.File] = m.Kind
	}
	for file, want := range map[string]run.MappingKind{"/example.vdex": run.JavaMapping, art: run.NativeMapping, "[kernel.kallsyms]": run.KernelMapping} {
		if mapped[file] != want {
			t.Errorf("%s is %v, want %v", file, mapped[file], want)
		}
	}
}

// TestObjectFiles checks that object files name what the trace does not, whatever the trace says of how addresses relate to
// the file: its bias, none, as in traces of Chrome, or 0, as Android 10 had for files that have one.
func TestObjectFiles(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff00112233"
	lib := objectstest.ELF{BuildID: id, Vaddr: 0x5000, Symbols: []objectstest.Symbol{{Name: "_Z5innerv", Addr: 0x5010, Size: 0x10}, {Name: "outer", Addr: 0x5020, Size: 0x10}}}
	store := objectstest.Stored(fstest.MapFS{"system/lib64/libx.so": lib.File(t)})
	raw, err := hex.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	count := uint64(0)
	sample := func(pc uint64, function, buildID string, more *perfettotest.Message) {
		m := message().Uint(2, s.String(perfetto.BuildIDs, buildID)).Append(more)
		m.Uint(7, s.String(perfetto.MappingPaths, "system")).Uint(7, s.String(perfetto.MappingPaths, "lib64")).Uint(7, s.String(perfetto.MappingPaths, "libx.so"))
		f := message().Uint(3, s.Intern(perfetto.Mappings, m)).Uint(4, pc)
		if function != "" {
			f.Uint(2, s.String(perfetto.FunctionNames, function))
		}
		stack := s.Intern(perfetto.Callstacks, message().Uint(2, s.Intern(perfetto.Frames, f)))
		count += 1000
		s.Perf(count, perfettotest.Sample{PID: 1, TID: 1, Stack: stack, Count: count})
	}
	mapped := func() *perfettotest.Message {
		return message().Uint(8, 0x1000).Uint(4, 0x70000000).Uint(5, 0x70001000)
	}
	sample(0x5010, "", string(raw), mapped().Uint(6, 0x4000))
	sample(0x5014, "", string(raw), message())
	sample(0x1018, "", string(raw), mapped().Uint(6, 0))
	sample(0x5020, "outer", string(raw), mapped().Uint(6, 0x4000))
	sample(0x5010, "", "another build", mapped().Uint(6, 0x4000))
	r := readTrace(t, &tr, &reading.Options{Objects: store})
	check(t, "samples", samplesOf(r, "cpu-clock"), "/: [libx.so] 1 1000\n/: inner() 1 1000\n/: inner() 1 1000\n/: inner() 1 1000\n/: outer 1 1000\n")
	// What was mapped is where it was; of the others only the address in the file is known.
	addresses := make(map[string]bool)
	for _, l := range r.Locations {
		m := &r.Mappings[l.Mapping]
		if l.Address < m.Start || l.Address >= m.Limit {
			t.Errorf("%#x is not in %+v", l.Address, m)
		}
		addresses[fmt.Sprintf("%s %#x", r.Functions[l.Lines[0].Function].Name, l.Address)] = true
	}
	check(t, "addresses", strings.Join(slices.Sorted(maps.Keys(addresses)), ", "), "[libx.so] 0x70000010, inner() 0x5014, inner() 0x70000010, inner() 0x70000018, outer 0x70000020")
	var why []string
	for _, m := range r.Mappings {
		if m.Unnamed.Why != "" && !slices.Contains(why, m.Unnamed.Why) {
			why = append(why, m.Unnamed.Why)
		}
	}
	if len(why) != 1 || !strings.Contains(why[0], "another build") {
		t.Errorf("why there is no name: %q", why)
	}
}
