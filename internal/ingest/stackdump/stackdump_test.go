package stackdump

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
)

func dumpFileOf(t testing.TB, name string) []byte {
	t.Helper()
	return ingesttest.ReadFile(t, filepath.Join("testdata", name))
}

// dumpSample is a sample of a stack dump.
type dumpSample struct {
	process, thread, state string
	pid, tid               int64
	stack                  string
}

func dumpSamples(t testing.TB, r *run.Run) []dumpSample {
	t.Helper()
	var list []dumpSample
	for _, s := range r.Samples {
		if s.Count != 1 || s.Weight != 1 {
			t.Errorf("a sample counts %d and weighs %d", s.Count, s.Weight)
		}
		l := r.Labels[s.Labels]
		var frames []string
		for _, loc := range slices.Backward(r.Stacks.Append(nil, s.Stack)) {
			for _, line := range slices.Backward(r.Locations[loc].Lines) {
				frames = append(frames, r.Functions[line.Function].Name)
			}
		}
		list = append(list, dumpSample{l.Process, l.Thread, l.State, l.PID, l.TID, strings.Join(frames, ";")})
	}
	return list
}

func TestStackDump(t *testing.T) {
	for _, tt := range []struct {
		file       string
		want       []dumpSample
		accounting string
		recording  run.Recording
		warnings   []string
	}{
		{
			"anr.txt",
			[]dumpSample{
				{"com.example.shop", "Signal Catcher", "Runnable", 4100, 4106, "__pthread_start(void*);art::SignalCatcher::Run(void*);art::DumpNativeStack(std::__1::basic_ostream<char, std::__1::char_traits<char> >&, int)"},
				{"com.example.shop", "main", "Native", 4100, 4100, "android.app.ActivityThread.main;android.os.Looper.loop;android.os.MessageQueue.next;android.os.MessageQueue.nativePollOnce;android::Looper::pollOnce(int, int*, int*, void**);__epoll_pwait;el0_svc;do_epoll_wait"},
				{"com.example.shop", `Worker "quoted"`, "Blocked", 4100, 4112, "java.lang.Thread.run;com.example.shop.Cart.access$000;com.example.shop.a.b"},
				{"com.example.shop", "pool-1", "Native", 4100, 4114, "java.io.File.renameTo;java.io.UnixFileSystem.rename0"},
				{"com.example.shop", "RenderThread", "not attached", 4100, 4125, "[unknown];engine::Queue::pop() (.cfi);syscall"},
				{"surfaceflinger", "surfaceflinger", "", 653, 653, "[libbinder.so];__ioctl"},
			},
			"samples: 8 in = 6 out + 0 filtered + 2 dropped (thread without a stack: 2); 0 lost; 9.5% of frames unknown",
			run.Recording{
				Format: "Android stack dumps", Arch: "aarch64", Build: "example/device/device:13/TQ1A.230105.002/1:user/release-keys",
				Start: time.Date(2023, 11, 14, 22, 13, 20, 5e8, time.UTC), Duration: 2 * time.Second,
			},
			[]string{"native frames are missing in 1 of 6 stacks: the device could not unwind them"},
		},
		{
			"tombstone.txt",
			[]dumpSample{
				{"com.example.shop:renderer", "Render", "", 2875, 2896, "__libc_init;main;com.example.shop.Main.run;com.example.shop.a.c;art::interpreter::Native(int);render::Tile::raster(render::Rect const&)"},
				{"com.example.shop:renderer", "hop:renderer", "", 2875, 2875, "__epoll_pwait"},
			},
			"samples: 4 in = 2 out + 0 filtered + 2 dropped (stack of emulated code: 1, thread without a stack: 1); 0 lost; 0.0% of frames unknown",
			run.Recording{
				Format: "Android stack dumps", Arch: "x86_64", Build: "example/device/device:14/UP1A.231005.007/1:user/release-keys",
				Start: time.Date(2023, 11, 14, 22, 13, 20, 175592859, time.UTC),
			},
			nil,
		},
		{
			"old.txt",
			[]dumpSample{
				{"system_server", "main", "WaitingForGcToComplete", 718, 718, "java.lang.reflect.Constructor.newInstance;android.widget.TextView.<init>;art::ConditionVariable::WaitHoldingLocks(art::Thread*);syscall"},
				{"mediaserver", "", "", 1200, 1201, "[unknown];pthread_kill;tgkill"},
			},
			"samples: 2 in = 2 out + 0 filtered + 0 dropped; 0 lost; 14.3% of frames unknown",
			run.Recording{Format: "Android stack dumps", Arch: "arm", Build: "example/old/old:5.1/LMY47D/1:user/release-keys"},
			nil,
		},
	} {
		t.Run(tt.file, func(t *testing.T) {
			data := dumpFileOf(t, tt.file)
			if !Recognise(data).Is {
				t.Error("is not taken for a dump")
			}
			r := ingesttest.Read(t, Read, data, &reading.Options{PID: true, TID: true})
			if d := cmp.Diff(tt.want, dumpSamples(t, r), cmp.AllowUnexported(dumpSample{})); d != "" {
				t.Errorf("samples (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.recording, r.Recording); d != "" {
				t.Errorf("recording (-want +got):\n%s", d)
			}
			if got := r.Accounting.String(); got != tt.accounting {
				t.Errorf("accounting %s, want %s", got, tt.accounting)
			}
			if d := cmp.Diff(tt.warnings, ingesttest.ReaderWarnings(r)); d != "" {
				t.Errorf("warnings (-want +got):\n%s", d)
			}
			if e := r.Events[0]; len(r.Events) != 1 || e.Name != "stack-dumps" || e.Unit != "count" || e.WeightSqLowerBound {
				t.Errorf("events %+v", r.Events)
			}
		})
	}
}

// logged is a tombstone with a prefix of its lines, and a line of others in its stack.
func logged(prefix, other string) string {
	return prefix + tombstoneRule + "\n" + prefix + "ABI: 'arm64'\n" + prefix + "pid: 4171, tid: 18233, name: codec  >>> media <<<\n" +
		prefix + "    sp  0000007e78dfaf90  lr  0000007e9def3cb8\n" + prefix + "\n" + prefix + "backtrace:\n" + prefix + "    #00 pc 01  /lib/a.so (f+1)\n" +
		other + prefix + "    #01 pc 02  /lib/a.so (g(int)+1)\n"
}

// TestStackDumpParts reads parts of dumps, as people quote them.
func TestStackDumpParts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]int64
		warning    string
	}{
		{"frames only", "#00 pc 00001  /lib/a.so (f+1)\n#01 pc 0002  /lib/a.so (g)\n", map[string]int64{"g;f": 1}, ""},
		{"two", "native: #00 pc 01 /lib/a.so (f+1)\nat a.B.c(B.java:1)\n\nnative: #00 pc 01 /lib/a.so (f+1)\nat a.B.c(B.java:1)\n", map[string]int64{"a.B.c;f": 2}, ""},
		{"CR LF", "native: #00 pc 01 /lib/a.so (f+1)\r\nat a.B.c(B.java:1)\r\n\r\n", map[string]int64{"a.B.c;f": 1}, ""},
		{"middle", "native: #04 pc 01 /lib/a.so (f+1)\nnative: #05 pc 02 /lib/a.so (g+1)\nnative: #08 pc 02 /lib/a.so (h+1)\nat a.B.c(B.java:1)\n...\n…\n", map[string]int64{"[not shown];a.B.c;h;[not shown];g;f;[not shown]": 1}, "frames are left out in 1 of 1 stacks: [not shown] stands for them"},
		{"cut names", "native: #00 pc 01 /lib/a.so (a::f(int, std::pair<ch\nnative: #01 pc 02 /lib/a.so (g+1)\n", map[string]int64{"g;a::f(int, std::pair<ch…": 1}, ""},
		{"header above an empty line", "\"main\" prio=5 tid=1 Waiting\n\n  native: #00 pc 01  /lib/a.so (f+1)\n  at a.B.c(B.java:1)\n", map[string]int64{"a.B.c;f": 1}, ""},
		{"backtrace without a thread", "backtrace:\n      #00 pc 01  /lib/a.so (f+1)\n\nmemory map:\n#00 pc 02  /lib/a.so (g+1)\n", map[string]int64{"f": 1}, ""},
		{"thread without a stack", "\"main\" prio=5 tid=1 Waiting\n", map[string]int64{}, "there are no samples"},
		{"truncated", "\"main\" prio=5 tid=1 Waiting\n  at a.B.c(B.java:1)\n  at a.B.d(B.java:2)", map[string]int64{"a.B.d;a.B.c": 1}, ""},
		{"anonymous memory", "#00 pc 01  [anon:thread signal stack]\n#01 pc 02  <anonymous:7000> (f+1)\n#02 pc 03  ???\n", map[string]int64{"[unknown];f;[anon:thread signal stack]": 1}, ""},
		{"operator", "#00 pc 01  /lib/a.so (x::operator+(x const&)+12)\n#01 pc 01  /lib/a.so (x::operator+)\n", map[string]int64{"x::operator+;x::operator+(x const&)": 1}, ""},
		{"invalid UTF-8", "#00 pc 01  /lib/\xff.so (f\xff)\n", map[string]int64{"f\ufffd": 1}, ""},
		{"native method of the runtime", "#00 pc 01  /lib/libart.so (art::Verify()+1)\n#01 pc 02  /oat/base.odex (art_jni_trampoline+1)\n#02 pc 03  /oat/base.odex (a.B.c+1)\n", map[string]int64{"a.B.c;art::Verify()": 1}, ""},
		{"Play Console", "\"main\" tid=1 Native\n  #00  pc 0x01  /lib/a.so (f+1)\n  at a.B.c (Native method)\n  at a.B.d (B.java:5)\n", map[string]int64{"a.B.d;a.B.c;f": 1}, ""},
		{"Play Console without numbers", "\"main\" tid=1 Native\n  #00  pc 0x01  /lib/a.so (f+1)\n  #00  pc 0x02  /lib/a.so (g+1)\n  #00  pc 0x03  /lib/a.so (h+1)\n", map[string]int64{"h;g;f": 1}, ""},
		{"Play Console with two heads", "\"x\" tid=1 Waiting\n\"x\" prio=5 tid=1 Waiting\n  at a.B.c (B.java:5)\n", map[string]int64{"a.B.c": 1}, ""},
		{"Dalvik", "\"main\" prio=5 tid=1 NATIVE\n  at a.B.c(Native Method)\n", map[string]int64{"a.B.c": 1}, ""},
		{
			"log with threads and others between",
			"--------- beginning of crash\n07-27 17:42:46.314  4171 18233 F libc    : Fatal signal 11 (SIGSEGV)\n" +
				logged("07-27 17:42:46.314 14723 14723 F DEBUG   : ", "07-27 17:42:46.414  1000  1022 I ActivityManager: Process x died\n"),
			map[string]int64{"g(int);f": 1},
			"",
		},
		{"log with users", logged("11-27 11:39:45.974  1041 26144 26144 F DEBUG   : ", ""), map[string]int64{"g(int);f": 1}, ""},
		{"brief log", logged("I/DEBUG   (   31): ", "W/art     (  12): x\n"), map[string]int64{"g(int);f": 1}, ""},
		{"log with times", logged("07-24 02:25:19.222 I/DEBUG   (   31): ", ""), map[string]int64{"g(int);f": 1}, ""},
		{"log of Android Studio before 2021", logged("07-24 02:25:19.222 13786-13786/? I/DEBUG: ", ""), map[string]int64{"g(int);f": 1}, ""},
		{"log of Android Studio", logged("2026-06-02 16:33:30.020 25823-25823 DEBUG                   crash_dump64                         A  ", ""), map[string]int64{"g(int);f": 1}, ""},
		{"log without times", logged("F DEBUG   : ", ""), map[string]int64{"g(int);f": 1}, ""},
		{
			"log that a tombstone quotes", logged("", "") + "\n--------- log main\n" + logged("07-27 17:42:46.314 14723 14723 F DEBUG   : ", ""),
			map[string]int64{"g(int);f": 1},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, Read, []byte(tt.text), &reading.Options{})
			got := make(map[string]int64)
			for stack, sum := range r.Folded(0) {
				got[stack] = sum.Count
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("stacks (-want +got):\n%s", d)
			}
			if got := strings.Join(ingesttest.ReaderWarnings(r), "\n"); got != tt.warning {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if !Recognise([]byte(tt.text)).Is && tt.name != "backtrace without a thread" {
				t.Error("is not taken for a dump")
			}
		})
	}
}

// TestStackDumpHeads checks that threads without stacks are counted, and what heads are of
// one thread.
func TestStackDumpHeads(t *testing.T) {
	const text = "\"a\" tid=1 Native\n\"a\" tid=1 Native\n\"a\" prio=5 tid=1 Native\n\"a\" prio=5 tid=1 Native\nat a.B.c(B.java:1)\n"
	r := ingesttest.Read(t, Read, []byte(text), &reading.Options{})
	if got, want := r.Accounting.String(), "samples: 3 in = 1 out + 0 filtered + 2 dropped (thread without a stack: 2); 0 lost; 0.0% of frames unknown"; got != want {
		t.Errorf("accounting %s, want %s", got, want)
	}
}

// TestStackDumpPlaces checks addresses, build IDs and source lines.
func TestStackDumpPlaces(t *testing.T) {
	text := `"main" prio=5 tid=1 Native
  kernel: f+0x1/0x2 [ext4]
  native: #00 pc 00984478  /data/app/x/base.apk (offset 9c0000)
  native: #01 pc 00000abc  /memfd:jit-cache (deleted) (offset 2000) (???)
  native: #02 pc 00000def  /lib/a.so (offset 0x1000) (_Z1gv+12) (BuildId: 0a0b)
  at a.B.<init>(B.java:7)
  at a.B.c(Unknown Source:3)
`
	r := ingesttest.Read(t, Read, []byte(text), &reading.Options{ShowARTFrames: true, UnknownOffset: true})
	type place struct {
		name, systemName, source string
		line                     int64
		file, buildID            string
		address                  uint64
		kind                     run.MappingKind
	}
	var got []place
	for _, loc := range r.Stacks.Append(nil, r.Samples[0].Stack) {
		l := r.Locations[loc]
		f, m := r.Functions[l.Lines[0].Function], r.Mappings[l.Mapping]
		got = append(got, place{f.Name, f.SystemName, f.File, l.Lines[0].Line, m.File, m.BuildID, l.Address, m.Kind})
	}
	want := []place{
		{"f", "f", "", 0, "[ext4]", "", 0, run.ModuleMapping},
		{"base.apk[+984478]", "base.apk[+984478]", "", 0, "/data/app/x/base.apk", "", 0x984478, run.JavaMapping},
		{"memfd:jit-cache (deleted)[+abc]", "memfd:jit-cache (deleted)[+abc]", "", 0, "/memfd:jit-cache (deleted)", "", 0xabc, run.JITMapping},
		{"g()", "_Z1gv", "", 0, "/lib/a.so", "0a0b", 0xdef, run.NativeMapping},
		{"a.B.<init>", "a.B.<init>", "B.java", 7, "[java]", "", 0, run.JavaMapping},
		{"a.B.c", "a.B.c", "", 3, "[java]", "", 0, run.JavaMapping},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(place{})); d != "" {
		t.Errorf("places (-want +got):\n%s", d)
	}
}

// TestStackDumpRuntime checks what ShowARTFrames keeps.
func TestStackDumpRuntime(t *testing.T) {
	for file, want := range map[string][]string{
		"anr.txt": {
			"com.example.shop main android.app.ActivityThread.main;android.os.Looper.loop;android.os.MessageQueue.next;android.os.MessageQueue.nativePollOnce;" +
				"android.os.MessageQueue.next;nterp_helper;art_jni_trampoline;android::Looper::pollOnce(int, int*, int*, void**);__epoll_pwait;el0_svc;do_epoll_wait",
		},
		"tombstone.txt": {
			"com.example.shop:renderer Render __libc_init;main;art_quick_invoke_stub;com.example.shop.Main.run;nterp_helper;com.example.shop.a.c;art_jni_trampoline;art::interpreter::Native(int);render::Tile::raster(render::Rect const&)",
		},
	} {
		var got []string
		for _, s := range dumpSamples(t, ingesttest.Read(t, Read, dumpFileOf(t, file), &reading.Options{ShowARTFrames: true})) {
			if s.thread == "main" || s.thread == "Render" {
				got = append(got, s.process+" "+s.thread+" "+s.stack)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	}
}

func TestStackDumpRetrace(t *testing.T) {
	mapping, err := retrace.Parse(strings.NewReader(`com.example.shop.Checkout -> com.example.shop.a:
# {"id":"sourceFile","fileName":"Checkout.kt"}
    1:5:void com.example.shop.Price.sum(int):30:34 -> b
    1:5:void pay():12 -> b
    void cancel() -> c
`))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"anr.txt":       "java.lang.Thread.run;com.example.shop.Cart.access$000;com.example.shop.Checkout.pay;com.example.shop.Price.sum",
		"tombstone.txt": "__libc_init;main;com.example.shop.Main.run;com.example.shop.Checkout.cancel;art::interpreter::Native(int);render::Tile::raster(render::Rect const&)",
	} {
		found := false
		for _, s := range dumpSamples(t, ingesttest.Read(t, Read, dumpFileOf(t, file), &reading.Options{Retrace: mapping})) {
			found = found || s.stack == want
		}
		if !found {
			t.Errorf("%s has no stack %s", file, want)
		}
	}
}

// TestStackDumpSymfs names addresses by a library that is compiled here.
func TestStackDumpSymfs(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("cc is not installed")
	}
	dir := t.TempDir()
	source := "static inline __attribute__((always_inline)) int inner(int x) {\n  while (x % 7) x += x / 3;\n  return x;\n}\nint outer(int x) {\n  return inner(x) + 1;\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "x.c"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), cc, "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", "libx.so", "x.c")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("cc does not make a shared library: %v: %s", err, out)
	}
	lib := ingesttest.ReadFile(t, filepath.Join(dir, "libx.so"))
	o, err := objfile.New(bytes.NewReader(lib), int64(len(lib)))
	if err != nil {
		t.Fatal(err)
	}
	table, err := o.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var outer objfile.Symbol
	for s := range table.All() {
		if s.Name == "outer" {
			outer = s
		}
	}
	lines, err := o.Lines()
	if err != nil {
		t.Fatal(err)
	}
	pc := outer.Addr
	for len(lines.Frames(pc)) < 2 {
		if pc++; pc == outer.Addr+outer.Len {
			t.Fatal("nothing is inlined into outer")
		}
	}
	symfs := objectstest.Stored(fstest.MapFS{"system/lib64/libx.so": {Data: lib}})
	id := o.BuildID()
	for _, tt := range []struct {
		name, frame, want, warning string
	}{
		{"no name, build ID", fmt.Sprintf("/system/lib64/libx.so (BuildId: %s)", id), "outer;inner", ""},
		{"name, build ID", fmt.Sprintf("/data/app/q/libx.so (alias+1) (BuildId: %s)", id), "alias;inner", ""},
		{"in an APK", fmt.Sprintf("/data/app/q/base.apk!libx.so (offset 0x1000) (BuildId: %s)", id), "outer;inner", ""},
		{"other build", "/system/lib64/libx.so (BuildId: 00112233)", "[libx.so]", "symfs0/system/lib64/libx.so is not used: its build ID is " + id + ", that of the recording 00112233"},
		{"name, no build ID", "/system/lib64/libx.so (outer+1)", "outer;inner", ""},
		{"cut name, no build ID", "/system/lib64/libx.so (out", "outer;inner", ""},
		{"other name, no build ID", "/system/lib64/libx.so (elsewhere+1)", "elsewhere", "/system/lib64/libx.so is of another build than the file under --symfs, which names functions otherwise: it is used only where they agree"},
		{"memory", "[anon:x]", "[anon:x]", ""},
		{"APK that is not here", "/data/app/q/base.apk (offset 0x1000)", "[base.apk]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, Read, fmt.Appendf(nil, "#00 pc %016x  %s\n", pc, tt.frame), &reading.Options{Objects: symfs})
			if got := dumpSamples(t, r)[0].stack; got != tt.want {
				t.Errorf("stack %s, want %s", got, tt.want)
			}
			if got := strings.Join(ingesttest.ReaderWarnings(r), "\n"); got != tt.warning {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
		})
	}
}

func TestStackDumpErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"address", "\"main\" prio=5 tid=1 Native\n  native: #00 pc ...  /lib/a.so\n", `line 2: frame #00: "..." is no address`},
		{"huge address", "#00 pc 10000000000000000  /lib/a.so\n", `line 1: frame #00: "10000000000000000" is no address`},
		{"offset", "#00 pc 1  /lib/a.so (offset x) (f)\n", `line 1: frame #00: "x" is no offset`},
		{"order", "#00 pc 1  /lib/a.so (f)\n#00 pc 1  /lib/a.so (f)\n", "line 2: frame #00 follows #00"},
		{"native below Java", "#00 pc 1  /lib/a.so (f)\nat a.b(A.java:1)\n#01 pc 1  /lib/a.so (f)\n", "line 3: native frame #01 calls a Java frame in one stack"},
		{"kernel below native", "#00 pc 1  /lib/a.so (f)\nkernel: f+0x1/0x2\n", "line 2: a frame of the kernel stands below others of its stack"},
		{"Java", "\"main\" prio=5 tid=1 Native\nat somewhere\n", `line 2: "somewhere" is no Java frame`},
		{"cut Java", "\"main\" prio=5 tid=1 Native\nat a.B.c(B.jav\n", `line 2: "a.B.c(B.jav" is no Java frame`},
		{"no threads", "----- pid 12 at 2023-11-14 22:13:20 -----\nCmd line: x\n\n----- end 12 -----\n", "is a dump without threads"},
		{"waiting channels", "----- Waiting Channels: pid 12 at 2023-11-14 22:13:20 -----\n\nsysTid=12  futex_wait\n", "is a dump without threads"},
		{"log without tombstones", "07-27 17:42:46.314  4171 18233 I art     : x\n", "is a dump without threads"},
		{"zeros and others", "\"main\" tid=1 Native\n#00 pc 1  /a (f)\n#00 pc 1  /a (f)\n#01 pc 1  /a (f)\n", "line 4: frame #01 follows #00"},
		{"long line", "#00 pc 1 /lib/" + strings.Repeat("x", input.MaxLine) + "\n", "line 1: is longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Read(ingesttest.Source(t, []byte(tt.text)), &reading.Options{})
			if err == nil || r != nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestStackDumpNot checks what is no stack dump.
func TestStackDumpNot(t *testing.T) {
	for _, text := range []string{
		"main;#00 pc 12;f 10\n", "# 00 pc 12\nmain;f 1\n", `"main" 10` + "\n", "*** 10\n", "-----;x 1\n", "pid: 12, tid: 13;f 1\n",
		"prog 12 1.5: 100 cycles:\n\t12 f (x)\n\n", "----- end 12 -----\n", "native: f 1\n", "F DEBUG   : f 1\n", "F/DEBUG;f 1\n",
	} {
		if Recognise([]byte(text)).Is {
			t.Errorf("%q is taken for a dump", text)
		}
	}
}

func FuzzStackDump(f *testing.F) {
	for _, name := range []string{"anr.txt", "tombstone.txt", "old.txt"} {
		f.Add(dumpFileOf(f, name))
	}
	for _, s := range []string{
		"native: #04 pc 01 /lib/a.so (a::f(ch\n...\nat a.b.c(B.java:2)\n",
		"\"a\" daemon prio=5 tid=1 X (y)\n| sysTid=9\nkernel: [<0>] f+0x1/0x2 [m]\nnative: (Unwind failed)\n",
		"#00 pc 1  [a (b] (c\n#01 pc 2  /x.apk (offset 9c) (a.b+1)\n#02 pc 3  y (deleted) ()\n",
		logged("07-24 02:25:19.222 I/DEBUG   (   31): ", "I/x: y\n"),
		"\"a\" tid=9 X\n\"a\" prio=1 tid=9 X\n#00 pc 1 x\n#00 pc 1 y\n",
		"\"a\" prio=5 tid=1 X\n| held mutexes= \"m\"(shared held)\nat a.b(c)\n- waiting to lock <0x1> (a X) held by thread 2\n\"b\" tid=2 Y\nat a.b(c)\n- locked <0x1> (a X)\n",
		"backtrace:\n#00 pc 1 \nGuest thread information for tid: 1\nbacktrace:\n#00 pc 1 x\n--- --- --- --- \n",
	} {
		f.Add([]byte(s))
	}
	symfs := objectstest.Stored(fstest.MapFS{"lib/a.so": {Data: []byte("\x7fELF")}, "x.apk": {Data: []byte("PK")}})
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return // gzip is undone before
		}
		ingesttest.Fuzz(t, Read, data, &reading.Options{PID: true, TID: true, Waits: true})
		ingesttest.Fuzz(t, Read, data, &reading.Options{ShowARTFrames: true, UnknownOffset: true, Objects: symfs})
		Recognise(data)
	})
}

// FuzzCutThreadTime compares with what the format is as a regular expression.
func FuzzCutThreadTime(f *testing.F) {
	form := regexp.MustCompile(`^(?:` + logTime + `(?:\S+\s+){0,3}?)?[VDIWEFA] (\S*)\s*:(?: (.*))?$`)
	for _, s := range []string{
		"07-27 17:42:46.314  4171 18233 F DEBUG   : message", "2023-07-27 17:42:46.314 +0200  4171 18233 F DEBUG   :", "11-27 11:39:45.974  1041 26144 26144 F DEBUG   : a: b",
		"F DEBUG   : x", "W a:b: c", "W a:b", "W : x", "07-27 17:42:46.314: 4171 F a: F b: c", "07-27 17:42:46.3 F F F F F F: c", "E a:\tb", "E a\t: b", "07-27 17:42:46.314 -0100 1 2 I a:",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) < 4 || bytes.IndexByte(line, '\n') >= 0 {
			return // the lines of a text have no line feed
		}
		tag, message, ok := cutThreadTime(line)
		m := form.FindSubmatch(line)
		if ok != (m != nil) || ok && (!bytes.Equal(tag, m[1]) || !bytes.Equal(message, m[2])) {
			t.Errorf("%q: got %q %q %v, want %q", line, tag, message, ok, m)
		}
	})
}

// thousandDumps are 1,000 dumps of an app with 60 threads, each with 6 native frames and 12 of
// Java, of which a third waits for a lock.
func thousandDumps() []byte {
	var b bytes.Buffer
	for dump := range 1000 {
		fmt.Fprintf(&b, "\n----- pid %d at 2023-11-14 23:%02d:%02d.500000000+0100 -----\nCmd line: com.example.shop\nABI: 'arm64'\n\nDALVIK THREADS (60):\n", 4000+dump, dump/60, dump%60)
		for thread := range 60 {
			fmt.Fprintf(&b, "\"pool-%d-thread-%d\" daemon prio=5 tid=%d Blocked\n  | group=\"main\" sCount=1 ucsCount=0 flags=1 obj=0x134402%02x self=0xb400007c11%02x\n"+
				"  | sysTid=%d nice=0 cgrp=default sched=0/0 handle=0x7b1a\n  | state=S schedstat=( 1086854706 330699698 4068 ) utm=63 stm=45 core=6 HZ=100\n"+
				"  | stack=0x7fd3027000-0x7fd3029000 stackSize=991KB\n  | held mutexes=\n", thread/8, thread, thread+1, thread, thread, 4000+dump+thread)
			for frame := range 6 {
				fmt.Fprintf(&b, "  native: #%02d pc 0000000000%06x  /apex/com.android.runtime/lib64/bionic/libc.so (__function_%d+%d) (BuildId: cd953571180b7f5f8ae5570dad29595f)\n", frame, (dump*31+thread*7+frame)%1000, (dump*31+thread*7+frame)%200, thread%3)
			}
			for frame := range 12 {
				fmt.Fprintf(&b, "  at com.example.shop.feature%d.Repository$loadAll$2.invokeSuspend(Repository.kt:%d)\n", (dump+thread+frame)%97, 10*frame+thread%10)
				switch {
				case frame == 0 && thread%3 == 0:
					fmt.Fprintf(&b, "  - waiting to lock <0x%08x> (a com.example.shop.Store) held by thread %d\n", thread+1, (thread+1)%60+1)
				case frame == 5 && thread%3 == 1:
					fmt.Fprintf(&b, "  - locked <0x%08x> (a com.example.shop.Store)\n", thread)
				}
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "----- end %d -----\n", 4000+dump)
	}
	return b.Bytes()
}

// BenchmarkStackDump reads 1,000 dumps in one file, plain and as logcat prints them.
func BenchmarkStackDump(b *testing.B) {
	text := thousandDumps()
	tombstones := bytes.Repeat([]byte(logged("07-27 17:42:46.314 14723 14723 F DEBUG   : ", "07-27 17:42:46.414  1000  1022 I ActivityManager: Process x died\n")), 20<<20/500)
	for _, bb := range []struct {
		name string
		text []byte
		opt  reading.Options
	}{{"plain", text, reading.Options{}}, {"waits", text, reading.Options{Waits: true}}, {"logcat", tombstones, reading.Options{}}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(ingesttest.Source(b, bb.text), &bb.opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
