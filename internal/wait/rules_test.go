package wait

import (
	"strings"
	"testing"
)

func TestBuiltinRules(t *testing.T) {
	seen := make(map[string]bool)
	for _, rule := range Builtin().list {
		if seen[rule.name] || rule.region == "" {
			t.Errorf("rule %q is there twice, or says nothing of its region: %q", rule.name, rule.region)
		}
		seen[rule.name] = true
	}
	if len(seen) < 10 {
		t.Errorf("%d rules", len(seen))
	}
}

func TestParseRules(t *testing.T) {
	rules, err := ParseRules("a.yaml", []byte(`
regions:
  - name: cache
    wants: '^Cache::lock$'
    scope: program
  - include: builtin
  - name: upload
    region: the line
    holds: [a, b]
    blocked: [send]
    kind: [native, java]
`))
	if err != nil {
		t.Fatal(err)
	}
	list := rules.list
	if n := len(Builtin().list); len(list) != n+2 || list[0].scope != program || list[1].name != Builtin().list[0].name || list[n+1].region != "the line" {
		t.Errorf("%d rules: %+v", len(list), list)
	}
}

func TestBadRules(t *testing.T) {
	const head = "regions:\n"
	for _, test := range []struct{ file, want string }{
		{"", `r.yaml: has no regions: it needs a list "regions:"`},
		{"regions:", `r.yaml:1: has no regions: list them under "regions:"`},
		{"regions: []", `r.yaml:1: has no regions: list them under "regions:"`},
		{"regions: 5", `r.yaml:1: regions is "5": it must be a list`},
		{"[1]", `r.yaml:1: the file is a list: it must be a mapping with the keys regions`},
		{"categories: []", `r.yaml:1: unknown key "categories" in the file: known are regions`},
		{head + "  - wants: a", `r.yaml:2: region has no name: add "name:"`},
		{head + "  - name: x", `r.yaml:2: region "x" has neither wants nor holds: say below which functions threads wait for it, or have it`},
		{head + "  - name: x\n    hold: a", `r.yaml:3: unknown key "hold" in a region: known are name, region, wants, from, except, holds, blocked, leaves, kind, scope, include`},
		{head + "  - name: x\n    wants: a\n    wants: b", `r.yaml:4: key "wants" was given in line 3 already: join the two`},
		{head + "  - name: x\n    wants: '('", `r.yaml:3: bad regular expression "(": missing closing ): "("; see https://go.dev/s/re2syntax`},
		{head + "  - name: x\n    wants: 'a*'", `r.yaml:3: wants has "a*", which matches names of no length and so perhaps all: ask for a character`},
		{head + "  - name: x\n    wants: []", `r.yaml:3: wants is an empty list: remove it, or list what it is for`},
		{head + "  - name: x\n    wants: [{a: b}]", `r.yaml:3: wants has an entry that is a mapping: it must be text`},
		{head + "  - name: x\n    holds: a\n    from: b", `r.yaml:2: region "x" has from without wants, which it belongs to`},
		{head + "  - name: x\n    holds: a\n    leaves: b", `r.yaml:2: region "x" has leaves without wants, which it belongs to`},
		{head + "  - name: x\n    wants: a\n    blocked: b", `r.yaml:2: region "x" has blocked without holds, which it belongs to`},
		{head + "  - name: x\n    wants: a\n    scope: here", `r.yaml:4: scope is "here": known are process, program, machine`},
		{head + "  - name: x\n    wants: a\n    kind: rust", `r.yaml:4: unknown kind "rust": known are unknown, native, kernel, kernel module, java, jit, vdso`},
		{head + "  - name: x\n    wants: a\n  - name: x\n    wants: b", `r.yaml:4: name "x" was given in line 2 already: join the two`},
		{head + "  - name: ' x'\n    wants: a", `r.yaml:2: name " x" is empty, or has spaces around it or characters that cannot be printed`},
		{head + "  - name: [x]\n    wants: a", `r.yaml:2: name is a list: it must be text`},
		{head + "  - include: all", `r.yaml:2: include is "all": only builtin can be included`},
		{head + "  - include: builtin\n  - include: builtin", `r.yaml:3: builtin is included twice: remove one`},
		{head + "  - include: builtin\n    name: x", `r.yaml:2: include stands alone: give the region in an entry of its own`},
		{head + "\t- name: x", `r.yaml:2: a tab cannot indent: use spaces`},
	} {
		_, err := ParseRules("r.yaml", []byte(test.file))
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\n  %v, want\n  %s", test.file, err, test.want)
		}
	}
	var many strings.Builder
	many.WriteString(head + "  - include: builtin\n")
	for i := range mostRules {
		many.WriteString("  - name: n" + strings.Repeat("x", i) + "\n    wants: a\n")
	}
	if _, err := ParseRules("r.yaml", []byte(many.String())); err == nil || !strings.Contains(err.Error(), "more than 64 regions") {
		t.Errorf("%d rules: %v", mostRules, err)
	}
}

// FuzzRules checks that a file of rules is read or refused in one line that names the file.
func FuzzRules(f *testing.F) {
	f.Add(string(builtin))
	f.Add("regions:\n  - name: x\n    holds: ['^a', b]\n    blocked: c\n    kind: [kernel]\n  - include: builtin\n")
	f.Add("regions: [{name: a, wants: b, from: c, except: d, leaves: e, scope: machine, region: f}]")
	f.Fuzz(func(t *testing.T, file string) {
		rules, err := ParseRules("r.yaml", []byte(file))
		switch {
		case err == nil && len(rules.list) == 0:
			t.Error("no rules and no error")
		case err != nil && (!strings.HasPrefix(err.Error(), "r.yaml:") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%q", err)
		}
	})
}

// TestBuiltinStacks checks stacks of real programs against the built-in rules.
func TestBuiltinStacks(t *testing.T) {
	for _, test := range []struct{ stack, want string }{
		{"main;art::JNI::GetPrimitiveArrayCritical(_JNIEnv*, _jarray*, unsigned char*);art::gc::Heap::IncrementDisableThreadFlip(art::Thread*);art::ConditionVariable::WaitHoldingLocks(art::Thread*);syscall", "flip of the collector"},
		{"art::gc::collector::ConcurrentCopying::FlipThreadRoots();art::gc::Heap::ThreadFlipBegin(art::Thread*);art::ConditionVariable::WaitHoldingLocks(art::Thread*)", "JNI critical section"},
		{"long Bank.total(int);SharedRuntime::monitor_enter_helper(oopDesc*, BasicLock*, JavaThread*);ObjectMonitor::enter(JavaThread*);ObjectMonitor::EnterI(JavaThread*);os::PlatformEvent::park(long)", "Java monitor"},
		{"a.b;ObjectMonitor::wait(long, bool, JavaThread*);os::PlatformEvent::park(long)", ""},
		{"compress;pthread_mutex_lock@@GLIBC_2.2.5;lll_mutex_lock_optimized;__lll_lock_wait;futex_wait", "mutex"},
		{"get;pthread_cond_wait@@GLIBC_2.3.2;__pthread_cond_wait_common;__pthread_mutex_cond_lock;__lll_lock_wait;futex_wait", "mutex"},
		{"get;pthread_cond_wait@@GLIBC_2.3.2;__pthread_cond_wait_common;__futex_abstimed_wait_common64", ""},
		{"put;__pthread_mutex_unlock_usercnt;lll_mutex_unlock_optimized;__lll_lock_wake", ""},
		{"lock_PyThread_acquire_lock;acquire_timed;PyThread_acquire_lock_timed;sem_clockwait", "lock of Python"},
		{"py::work:/tmp/a.py;lock_PyThread_acquire_lock;acquire_timed;PyThread_acquire_lock_timed;sem_clockwait", "lock of Python"},
		{"py::Thread.join:/usr/lib/python3.12/threading.py;py::Thread._wait_for_tstate_lock:/usr/lib/python3.12/threading.py;lock_PyThread_acquire_lock;acquire_timed", ""},
		{"py::Queue.get:/usr/lib/python3.12/queue.py;py::Condition.wait:/usr/lib/python3.12/threading.py;lock_PyThread_acquire_lock;acquire_timed", ""},
		{"pysleep;PyEval_RestoreThread;take_gil;pthread_cond_timedwait", "GIL"},
		{"XLogFlush;LWLockAcquireOrWait;PGSemaphoreLock;sem_wait", "lock of PostgreSQL"},
		{"main;asm_exc_page_fault;exc_page_fault;do_user_addr_fault;lock_mm_and_find_vma;down_read_killable;rwsem_down_read_slowpath;schedule", "mmap_lock"},
		{"munmap;__x64_sys_munmap;__vm_munmap;down_write_killable;rwsem_down_write_slowpath;schedule", "mmap_lock"},
		{"exc_page_fault;handle_mm_fault;filemap_fault;ext4_filemap_fault;down_read;rwsem_down_read_slowpath;schedule", "semaphore of the kernel"},
		{"write;ext4_buffered_write_iter;down_write;rwsem_down_write_slowpath;schedule", "semaphore of the kernel"},
		{"pipe_write;mutex_lock;__mutex_lock_slowpath;__mutex_lock.constprop.0;schedule_preempt_disabled", "mutex of the kernel"},
		{"sleep;clock_nanosleep", ""},
	} {
		rec := newRecording()
		stack := rec.stack(test.stack)
		got := ""
		if rule, ok := newClassifier(rec.Run(), Builtin()).of(stack).waitsFor(); ok {
			got = Builtin().list[rule].name
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.stack, got, test.want)
		}
	}
}
