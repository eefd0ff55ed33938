package category

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// build makes a run of samples, one a line:
//
//	PROCESS/THREAD FILE!FUNCTION;FILE!FUNCTION;… WEIGHT
//
// with the root first. FILE is k for the kernel, java and jit for such code, - for none,
// else a file of native code. A + instead of ; before a function says that it is inlined.
func build(t testing.TB, samples string) *run.Run {
	t.Helper()
	b := run.NewBuilder("r")
	e := b.Event(run.Event{Name: "cpu-cycles"})
	for line := range strings.Lines(strings.ReplaceAll(samples, "\t", "")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var who, frames string
		var weight int64
		if _, err := fmt.Sscan(line, &who, &frames, &weight); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		process, thread, _ := strings.Cut(who, "/")
		labels := b.Labels(run.Labels{Process: process, Thread: thread, PID: -1, TID: -1, CPU: -1})
		var stack run.StackID
		if frames != "-" {
			for location := range strings.SplitSeq(frames, ";") {
				var lines []run.Line
				mapping := uint32(0)
				for frame := range strings.SplitSeq(location, "+") {
					file, name, _ := strings.Cut(frame, "!")
					m, special := map[string]run.Mapping{
						"-": {}, "k": {File: "[kernel.kallsyms]", Kind: run.KernelMapping},
						"java": {File: "/a.odex", Kind: run.JavaMapping}, "jit": {File: "[JIT]", Kind: run.JITMapping},
					}[file]
					if !special {
						m = run.Mapping{File: "/lib/" + file, Kind: run.NativeMapping}
					}
					mapping = b.Mapping(m)
					name = strings.ReplaceAll(name, "_SPACE_", " ")
					lines = append([]run.Line{{Function: b.Function(run.Function{Name: name})}}, lines...)
				}
				stack = b.Stack(stack, b.Location(mapping, 0, lines...))
			}
		}
		b.Add(e, stack, labels, weight)
		b.Run().Accounting.In++
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(s *Set, r *run.Run) []string {
	var got []string
	for _, c := range s.Of(r) {
		got = append(got, s.Names()[c])
	}
	return got
}

func TestBuiltin(t *testing.T) {
	for _, test := range []struct{ sample, want string }{
		{"a/a app!main;libc.so.6!__read;k!entry_SYSCALL_64_after_hwframe;k!do_syscall_64;k!__x64_sys_read;k!vfs_read 1", "read"},
		{"a/a libc.so!pread64;k!el0_sync;k!el0_svc_common;k!__arm64_sys_pread64 1", "read"},
		{"a/a app!main;k!vector_swi;k!ret_fast_syscall;k!SyS_read 1", "read"},
		{"a/a -!main;-!pread64 1", "read"},
		{"a/a app!main;app!read 1", "native code"}, // a function of the program's own
		{"a/a app!main;libc-2.31.so!__read_nocancel 1", "read"},
		// A page fault or an allocation on the way is part of what was asked for.
		{"a/a libc.so!read;k!__x64_sys_read;k!copy_page_to_iter;k!asm_exc_page_fault;k!handle_mm_fault 1", "read"},
		{"a/a libc.so!read;k!__x64_sys_read;k!kmem_cache_alloc 1", "read"},
		{"a/a libc.so!read;k!__x64_sys_read;k!schedule;k!__schedule 1", "read"},
		// An interrupt is not.
		{"a/a libc.so!read;k!__x64_sys_read;k!asm_sysvec_apic_timer_interrupt;k!hrtimer_interrupt 1", "interrupts"},
		{"a/a libc.so!read;k!__x64_sys_read;k!sock_read_iter;k!tcp_recvmsg 1", "networking"},
		{"a/a libc.so!__pwrite64;k!__x64_sys_pwrite64 1", "write"},
		{"a/a libc.so!fdatasync;k!__x64_sys_fdatasync;k!ext4_sync_file;k!io_schedule 1", "fsync"},
		{"a/a libc.so!msync;k!__x64_sys_msync 1", "fsync"},
		{"a/a liburing.so!io_uring_submit;k!__x64_sys_io_uring_enter;k!io_submit_sqes;k!io_read 1", "io_uring submit"},
		{"a/a liburing.so!io_uring_submit_and_wait;k!__x64_sys_io_uring_enter;k!io_cqring_wait;k!schedule 1", "io_uring wait"},
		{"a/a snapuserd!__io_uring_get_cqe 1", "io_uring wait"},
		{"a/iou-wrk-4711 k!ret_from_fork;k!io_wq_worker;k!io_write 1", "io_uring workers"},
		{"a/iou-sqp-4711 k!io_sq_thread;k!io_submit_sqes 1", "io_uring submit"},
		{"a/a libc.so!epoll_pwait;k!__arm64_sys_epoll_pwait;k!schedule_hrtimeout_range 1", "poll"},
		{"a/a libc.so!syscall;k!__arm64_sys_futex;k!futex_wait_queue;k!schedule 1", "locks"},
		{"a/a libc.so!pthread_mutex_lock 1", "locks"},
		{"a/a app!main;libc.so!memcpy;k!asm_exc_page_fault;k!do_anonymous_page;k!clear_page_erms 1", "page faults"},
		{"a/a app!main;libc.so.6!__memmove_avx_unaligned_erms 1", "memcpy and memset"},
		{"a/a app!main;libc.so!malloc;libc.so!memset 1", "memory allocation"},
		{"a/a app!operator_SPACE_new(unsigned_SPACE_long) 1", "memory allocation"},
		{"a/a libc.so!mmap64;k!__x64_sys_mmap 1", "memory mapping"},
		{"app/HeapTaskDaemon libart.so!art::gc::Heap::ConcurrentGC;libc.so!memcpy 1", "garbage collection"},
		{"app/main java!Foo.bar;libart.so!art::gc::Heap::CollectGarbageInternal 1", "garbage collection"},
		{"app/main go!runtime.mallocgc;go!runtime.gcAssistAlloc 1", "garbage collection"},
		{"app/Jit_thread_pool libart-compiler.so!art::Foo 1", "JIT compilation"},
		{"app/main libart.so!art_quick_invoke_stub;java!Foo.bar 1", "Java code"},
		{"app/main java!Foo.bar;jit!Foo.baz 1", "JIT-compiled code"},
		{"app/main java!Foo.bar;libart.so!art::ArtMethod::Invoke 1", "Android runtime"},
		{"app/Binder:1_2 libbinder.so!talk;libc.so!__ioctl;k!__arm64_sys_ioctl;k!binder_ioctl;k!binder_thread_read 1", "binder"},
		{"a/a libc.so!getppid;k!el0_svc;k!__arm64_sys_getppid 1", "other system calls"},
		{"swapper/swapper k!cpu_startup_entry;k!do_idle;k!cpuidle_enter 1", "idle"},
		{"swapper/swapper k!do_idle;k!asm_sysvec_reschedule_ipi 1", "interrupts"},
		{"kworker/0:1/kworker/0:1 k!ret_from_fork;k!kthread;k!worker_thread;k!foo 1", "kernel"},
		{"a/a app!main+libc.so!memcpy 1", "memcpy and memset"},
		{"a/a -!foo;-![unknown] 1", "other"},
		{"a/a - 1", "other"},
		{"swapper/swapper - 1", "idle"},
	} {
		r := build(t, test.sample)
		if got := names(Builtin(), r); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: %q, want %q", test.sample, got, test.want)
		}
	}
}

func TestRules(t *testing.T) {
	const stacks = `
a/main app!main;app!parse;lib.so!copy 1
a/main app!main;lib.so!copy;app!parse 2
a/pool-1 app!main;app!parse 4
b/main app!main;k!copy 8
a/main app!outer+app!parse+app!copy 16
`
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"any frame", `[{name: x, match: [^copy$]}]`, []string{"x", "x", "other", "x", "x"}},
		{"innermost", `[{name: x, leaf: [^copy$]}]`, []string{"x", "other", "other", "x", "x"}},
		{"one pattern is no list", `[{name: x, leaf: copy}]`, []string{"x", "other", "other", "x", "x"}},
		{"under", `[{name: x, match: [^copy$], under: [^parse$]}]`, []string{"x", "other", "other", "other", "x"}},
		{"innermost under", `[{name: x, leaf: [^parse$], under: [^copy$]}]`, []string{"other", "x", "other", "other", "other"}},
		{"inlined caller", `[{name: x, leaf: [^copy$], under: [^outer$]}]`, []string{"other", "other", "other", "other", "x"}},
		{"file of the frame", `[{name: x, match: [^copy$], dso: ['/lib\.so$']}]`, []string{"x", "x", "other", "other", "other"}},
		{"file of the innermost frame", `[{name: x, dso: ['/lib\.so$']}]`, []string{"x", "other", "other", "other", "other"}},
		{"kind", `[{name: x, match: [^copy$], kind: [kernel, java]}]`, []string{"other", "other", "other", "x", "other"}},
		{"thread", `[{name: x, thread: ['^pool-'], match: [parse]}, {name: y, process: [b]}]`, []string{"other", "other", "x", "y", "other"}},
		{"order", `[{name: x, match: [main]}, {name: y, match: [copy]}]`, []string{"x", "x", "x", "x", "y"}},
		{"alternatives", `[{name: x, any: [{leaf: [copy]}, {thread: [pool]}]}]`, []string{"x", "other", "x", "x", "x"}},
		{"built-in after", `[{name: x, match: [parse]}, {include: builtin}]`, []string{"x", "x", "x", "kernel", "x"}},
		{"added to one built in", `[{name: kernel, match: [main]}, {include: builtin}]`, []string{"kernel", "kernel", "kernel", "kernel", "native code"}},
	} {
		s, err := Parse("c.yaml", []byte("categories: "+test.file))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, names(s, build(t, stacks))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestGroup(t *testing.T) {
	s, err := Parse("c.yaml", []byte("categories: [{name: z, match: [f]}, {name: unused, match: [nothing]}, {name: a, match: [g]}]"))
	if err != nil {
		t.Fatal(err)
	}
	r := build(t, "a/a app!g 5\na/a app!f 3\na/a app!h 100\na/a app!f;app!g 4")
	type row struct {
		Name          string
		Weight, Count int64
	}
	var got []row
	for _, g := range s.Group(r) {
		if diff := cmp.Diff(g.Self, g.Total); diff != "" {
			t.Errorf("%s: total is not self: %s", g.Name, diff)
		}
		got = append(got, row{g.Name, g.Self[0].Weight, g.Self[0].Count})
	}
	if diff := cmp.Diff([]row{{"z", 7, 2}, {"a", 5, 1}, {"other", 100, 1}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestRecordings checks that categories sum to the totals of recordings.
func TestRecordings(t *testing.T) {
	const dir = "../../../shared/perfdata"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the recordings of others are not here: ../../../shared/perfdata")
	}
	var files []string
	for _, pattern := range []string{"linux/*", "simpleperf/*.data"} {
		some, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	checked := 0
	for _, file := range files {
		src, err := input.Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Read(src, &ingest.Options{})
		src.Close()
		if err != nil {
			continue // not all of them are whole
		}
		checked++
		sums := make([]run.Sum, len(r.Events))
		for _, row := range Builtin().Group(r) {
			for e := range sums {
				sums[e].Weight += row.Self[e].Weight
				sums[e].Count += row.Self[e].Count
			}
		}
		for e := range r.Events {
			if sums[e].Weight != r.Events[e].Weight || sums[e].Count != r.Events[e].Samples {
				t.Errorf("%s: %s: categories sum to %d in %d samples, want %d in %d",
					file, r.Events[e].Name, sums[e].Weight, sums[e].Count, r.Events[e].Weight, r.Events[e].Samples)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d recordings could be read", checked)
	}
}

// TestOracle compares Of with the definition of the rules, on random stacks.
func TestOracle(t *testing.T) {
	const file = `
categories:
  - {name: c0, match: ['^f1$', 'f2[05]'], under: ['^f3', '^f4$'], thread: ['[02468]$']}
  - {name: c1, leaf: ['^f1'], kind: [kernel]}
  - {name: c2, match: ['7$'], dso: ['k'], under: ['^f2']}
  - {name: c3, process: ['^p1$'], match: ['^f(5|6)$']}
  - {name: c4, dso: ['/b$'], under: ['^f1']}
  - {name: c5, thread: ['^t1$']}
`
	s, err := Parse("c.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	m := func(expr, s string) bool { return regexp.MustCompile(expr).MatchString(s) }
	type frame struct{ function, file string }
	oracle := func(process, thread string, stack []frame) string { // root first
		under := func(i int, expr string) bool {
			return slices.ContainsFunc(stack[:i], func(f frame) bool { return m(expr, f.function) })
		}
		some := func(holds func(i int, f frame) bool) bool {
			for i, f := range stack {
				if holds(i, f) {
					return true
				}
			}
			return false
		}
		last := len(stack) - 1
		switch {
		case m("[02468]$", thread) && some(func(i int, f frame) bool { return m("^f1$|f2[05]", f.function) && under(i, "^f3|^f4$") }):
			return "c0"
		case last >= 0 && m("^f1", stack[last].function) && stack[last].file == "k":
			return "c1"
		case some(func(i int, f frame) bool { return m("7$", f.function) && f.file == "k" && under(i, "^f2") }):
			return "c2"
		case process == "p1" && some(func(_ int, f frame) bool { return m("^f(5|6)$", f.function) }):
			return "c3"
		case last >= 0 && stack[last].file == "b" && under(last, "^f1"):
			return "c4"
		case thread == "t1":
			return "c5"
		}
		return Other
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var want []string
	for i := range 5000 {
		process, thread := fmt.Sprintf("p%d", rng.IntN(3)), fmt.Sprintf("t%d", rng.IntN(12))
		var stack []frame
		fmt.Fprintf(&text, "%s/%s ", process, thread)
		for j := range 1 + rng.IntN(9) {
			f := frame{fmt.Sprintf("f%d", rng.IntN(30)), []string{"a", "b", "k"}[rng.IntN(3)]}
			if j > 0 {
				separator := ";"
				if rng.IntN(4) == 0 {
					separator = "+" // inlined: in the file of its caller
					f.file = stack[j-1].file
				}
				text.WriteString(separator)
			}
			stack = append(stack, f)
			text.WriteString(f.file + "!" + f.function)
		}
		fmt.Fprintf(&text, " %d\n", i+1)
		want = append(want, oracle(process, thread, stack))
	}
	r := build(t, text.String())
	got := make(map[string]int64)
	for i, c := range s.Of(r) {
		got[s.Names()[c]] += r.Samples[i].Weight
	}
	sums := make(map[string]int64)
	for i, name := range want {
		sums[name] += int64(i + 1)
	}
	if diff := cmp.Diff(sums, got); diff != "" {
		t.Error(diff)
	}
	if len(sums) != 7 {
		t.Errorf("only these categories: %v", sums)
	}
}

func BenchmarkOf(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	bu := run.NewBuilder("bench")
	e := bu.Event(run.Event{Name: "cpu-clock"})
	kernel := bu.Mapping(run.Mapping{File: "[kernel.kallsyms]", Kind: run.KernelMapping})
	native := bu.Mapping(run.Mapping{File: "/lib/lib.so", Kind: run.NativeMapping})
	for i := range 50_000 {
		f := bu.Function(run.Function{Name: fmt.Sprintf("android::some::Thing%d::function(int)", i/2), SystemName: fmt.Sprintf("_ZN7android%dE", i/2)})
		bu.Location([]uint32{kernel, native}[i%2], uint64(i), run.Line{Function: f})
	}
	for range 200_000 {
		var stack run.StackID
		for d := range 16 {
			stack = bu.Stack(stack, uint32(d*3000+rng.IntN(1+d*40)))
		}
		bu.Add(e, stack, bu.Labels(run.Labels{Thread: fmt.Sprint("t", rng.IntN(100))}), 1)
	}
	r, err := bu.Finish()
	if err != nil {
		b.Fatal(err)
	}
	s := Builtin()
	b.ReportAllocs()
	for b.Loop() {
		s.Of(r)
	}
	b.ReportMetric(float64(r.Stacks.Len()), "stacks")
}
