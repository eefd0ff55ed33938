package wait

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"profdiff/internal/run"
)

// waiting matches functions through which every wait goes, whatever it is for: system calls and
// the functions of libraries around them, of runtimes, and of the kernel's scheduler.
var waiting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(` + strings.Join([]string{
		// C libraries, also where they are linked into the program.
		`_*(libc_|GI_+)?(syscall|ioctl|p?read(64|v\d*)?|p?write(64|v\d*)?|p?select|p?poll|epoll_p?wait2?|(clock_)?nanosleep|u?sleep|recv(from|m?msg)?|send(to|m?msg)?|accept4?|connect|fd?a?t?a?sync|wait(4|id|pid)?|pause|flock|fcntl(64)?|sched_yield|msgrcv|semop|semtimedop)(_nocancel|_time64)?(@.*)?`,
		`_*(pthread_|sem_\w*wait|lll_|futex_|internal_syscall_cancel|syscall_cancel)\w*(@.*)?`,
		`\w*cond(ition)?_?(timed|clock)?_?wait\w*`,
		`std::(\w+::)*(condition_variable|this_thread)\w*::.*`, `std::(sys|thread|sync)::.*`, `parking_lot(_core)?::.*`, `absl::(\w+::)*(CondVar|Mutex|PerThreadSem|FutexWaiter|\w*Waiter)::.*`,
		`g_(cond|mutex|rw_lock|rec_mutex)_.*`, `uv_(cond|mutex|sem)_.*`, `NonPI::.*`,
		// Runtimes.
		`art::(ConditionVariable|Mutex|ReaderWriterMutex|Monitor)::.*`, `.*monitor_?enter.*`, `(ObjectSynchronizer)::.*`, `(os::)?(PlatformEvent|Parker|PlatformMonitor|PlatformMutex|Monitor|Mutex|ObjectMonitor)::.*`, `(Unsafe|JVM)_\w*(Park|Wait|Sleep).*`,
		`(L?java[./]lang[./](Object|Thread);?(\.|::)(wait|sleep|join)\w*|.*LockSupport;?(\.|::)park.*|.*Unsafe;?(\.|::)park.*|.*AbstractQueued(Long)?Synchronizer.*)`,
		`runtime\.(futex|notesleep|notetsleep|stopm|findRunnable|schedule|park_m|mcall|gopark|sema|netpoll|usleep|mPark|lock|unlock|asmcgocall|cgocall|exitsyscall|entersyscall).*`, `(internal/)?runtime/(internal/)?syscall\..*`, `syscall\.(Raw)?Syscall.*`,
		`(_?take_gil|PyThread_\w+|acquire_timed|_PyMutex_\w+|PyEval_(Acquire|Restore)\w+)`,
		// The kernel, for its own threads.
		`_*(schedule|io_schedule|preempt_schedule|cond_resched|do_wait_for_common|wait_for_common|wait_for_completion)\w*`, `_*(mutex_lock|rwsem_down|down_(read|write)|rt_mutex)\w*`,
		`(kthread|ret_from_fork\w*|worker_thread|process_one_work)`,
	}, `|`) + `)(\.(isra|constprop|part|cold|llvm|lto_priv)\b.*)?(\(.*)?$`)
})

// polling matches functions and slices in which a thread waits for whatever comes first: of C libraries and the
// kernel, of message loops and runtimes.
var polling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(` + strings.Join([]string{
		`_*(libc_|GI_+)?(p?select6?|p?poll|epoll_p?wait2?)(_nocancel|_time64)?(@.*)?`,
		`(do_epoll_p?wait|ep_poll|do_sys_poll|do_poll|do_select|core_sys_select|poll_schedule_timeout|schedule_hrtimeout_range)\w*`,
		`(__)?kevent\w*|mach_msg\w*|NtWaitForMultipleObjects|(Nt)?(Zw)?RemoveIoCompletion\w*|GetQueuedCompletionStatus\w*`,
		`((android::)?Looper::)?poll(Once|Inner|All)`, `(L?android[./]os[./]MessageQueue;?(\.|::))?nativePollOnce`, `L?sun[./]nio[./]ch[./](EPoll|Poll|KQueue|Net)\w*;?(\.|::)(e?poll\w*|wait)`,
		`uv__io_poll`, `g_(main_context_)?poll`, `runtime\.netpoll`, `base::MessagePump\w*::(WaitFor\w+|Wait)`,
		`(HIDL|AIDL)::.*::poll\w*::(client|server|passthrough)`, // sides of a call of Android's hardware services
	}, `|`) + `)(\.(isra|constprop|part|cold)\b.*)?(\(.*)?$`)
})

// Polls reports whether a function, or a slice of that name, waits for whatever comes first. A thread that does has
// nothing to do: it waits for nobody.
func Polls(function string) bool { return polling().MatchString(function) }

// Contends reports whether a slice has the name that Android's runtime gives the time in which a thread waits for a lock: who
// had it says more.
func Contends(slice string) bool {
	return slice == "monitor contention" || strings.HasPrefix(slice, "Lock contention on ")
}

// place is where a stack waits, nil for no stack. It is the function by which a rule says that it
// waits for a region of the program, or else the innermost one of the program that tells more than that it
// waits. Stacks of the kernel alone have the innermost such function there.
func (b *builder) place(stack run.StackID) *Place {
	if stack == 0 {
		return nil
	}
	p, ok := b.places[stack]
	if !ok {
		p = b.findPlace(stack)
		b.places[stack] = p
	}
	return p
}

func (b *builder) findPlace(stack run.StackID) *Place {
	rule, wants := b.stacks.of(stack).waitsFor()
	wants = wants && !b.stacks.inKernel(rule)
	leaf := &b.r.Locations[b.r.Stacks.Location(stack)]
	var kernel, library *Place
	for id := stack; id != 0; id = b.r.Stacks.Parent(id) {
		l := &b.r.Locations[b.r.Stacks.Location(id)]
		m := &b.r.Mappings[l.Mapping]
		for i, line := range l.Lines {
			f := &b.r.Functions[line.Function]
			if state := !f.Unknown && stateFrame(f.Name); state && leaf != l && !wants {
				return b.placeOf(leaf, 0) // a trace tells this one function of the kernel
			} else if state || f.Unknown {
				continue
			}
			p, plain := b.placeOf(l, i), !waiting().MatchString(f.Name)
			wanted := wants && b.stacks.name(functionKey{line.Function, m.Kind}).wants&(1<<rule) != 0
			switch {
			case m.Kind == run.KernelMapping || m.Kind == run.ModuleMapping:
				if kernel == nil && plain {
					kernel = p
				}
				continue
			case wanted && plain:
				return p
			case library == nil:
				library = p
			}
			// Functions further in than the one of the rule do not tell more than it.
			if wants = wants && !wanted; !wants && plain && !libc(m.File) {
				return p
			}
		}
	}
	for _, p := range []*Place{library, kernel} {
		if p != nil {
			return p
		}
	}
	return b.placeOf(leaf, 0)
}

// stateFrame reports whether a frame stands for what is no function: the state of a thread in a
// trace.
func stateFrame(name string) bool {
	return strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]")
}

// placeOf is a line of a location.
func (b *builder) placeOf(l *run.Location, line int) *Place {
	f := &b.r.Functions[l.Lines[line].Function]
	return &Place{Function: f.Name, File: f.File, Line: l.Lines[line].Line}
}

// libc reports whether a file is the library of C, or of threads, whose functions wait for whoever
// calls them.
func libc(file string) bool {
	name := path.Base(file)
	return slices.ContainsFunc([]string{"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "libc.musl", "linker"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}
