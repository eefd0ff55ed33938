package sampler

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Record records what run starts, until run returns, to a file that is not there. It calls run on
// a thread that nothing else uses, on which run has to start the command.
func Record(opt *Options, file string, run func() error) (*Recording, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	type result struct {
		*Recording
		err error
	}
	done := make(chan result)
	go func() {
		// The thread keeps the events, and whatever it starts later would be recorded: it ends with
		// this goroutine.
		runtime.LockOSThread()
		r, err := record(opt, file, run)
		done <- result{r, err}
	}()
	r := <-done
	return r.Recording, r.err
}

// A recorder has the events of what it records open.
type recorder struct {
	opt     *Options
	attrs   []unix.PerfEventAttr
	fds     [][]int // by event
	ids     [][]uint64
	rings   []*ring
	leaders map[int]int // by CPU, the event whose ring all others of the CPU share
	file    *file
	wake    int        // tells the reader of the rings to end
	read    chan error // what became of it
	failed  func()     // called when the file cannot be written, if it is set
	Recording
}

func newRecorder(opt *Options) *recorder {
	return &recorder{
		opt: opt, attrs: attributes(opt), fds: make([][]int, len(opt.Events)), ids: make([][]uint64, len(opt.Events)),
		leaders: make(map[int]int), wake: -1,
	}
}

func record(opt *Options, name string, run func() error) (out *Recording, err error) {
	began := time.Now()
	r := newRecorder(opt)
	defer func() { err = errors.Join(err, r.close()) }()
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	if i, err := r.open(0, cpus); err != nil {
		return nil, r.explain(i, err)
	}
	if r.file, err = create(name, r); err != nil {
		return nil, err
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	r.Before = time.Since(began)
	return r.end(run())
}

// begin starts to copy what the rings have.
func (r *recorder) begin() (err error) {
	if r.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	r.read = make(chan error, 1)
	go func() { r.read <- r.readRings() }()
	return nil
}

// end ends a recording during which there may have been an error.
func (r *recorder) end(ran error) (*Recording, error) {
	ended := time.Now()
	for _, list := range r.fds {
		for _, fd := range list {
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_DISABLE, 0); err != nil {
				ran = errors.Join(ran, err)
			}
		}
	}
	if _, err := unix.Write(r.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return nil, errors.Join(ran, err)
	}
	if err := errors.Join(ran, <-r.read); err != nil {
		return nil, err
	}
	if err := r.file.finish(r); err != nil {
		return nil, err
	}
	r.After = time.Since(ended)
	return &r.Recording, nil
}

// open opens all events of a thread (0 is this one, -1 all there are) on CPUs, which share a ring
// each. It returns which event could not be opened.
func (r *recorder) open(tid int, cpus []int) (int, error) {
	for i := range r.attrs {
		for _, cpu := range cpus {
			fd, err := r.openOne(i, tid, cpu)
			if errors.Is(err, unix.ENODEV) && cpu > 0 { // it went off meanwhile
				continue
			}
			if err != nil {
				return i, err
			}
			r.fds[i] = append(r.fds[i], fd)
			var id uint64
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id))); errno != 0 {
				return i, errno
			}
			r.ids[i] = append(r.ids[i], id)
			if leader, ok := r.leaders[cpu]; !ok {
				err = r.mapRing(fd, cpu)
			} else if err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, leader); err != nil {
				err = fmt.Errorf("one ring for all events: %w", err)
			}
			if err != nil {
				return i, err
			}
		}
	}
	return 0, nil
}

// mapRing maps the ring of a CPU. If a user may lock no more memory, all rings become smaller, so that
// there is some for each.
func (r *recorder) mapRing(fd, cpu int) error {
	r.leaders[cpu] = fd
	if r.Pages == 0 {
		r.Pages = r.opt.pages()
	}
	for missing := []int{fd}; len(missing) > 0; {
		ring, err := newRing(missing[0], r.Pages)
		switch {
		case err == nil:
			r.rings, missing = append(r.rings, ring), missing[1:]
		case !errors.Is(err, unix.EPERM):
			return err
		case r.Pages == 1:
			return fmt.Errorf("%w: this user may lock no more memory, some of which other recorders may have: raise ulimit -l, or as root sysctl kernel.perf_event_mlock_kb", ErrForbidden)
		default:
			r.Pages /= 2
			for _, ring := range r.rings {
				if err := ring.close(); err != nil {
					return err
				}
				missing = append(missing, ring.fd)
			}
			r.rings = nil
		}
	}
	return nil
}

// openOne opens an event on a CPU; where users may not look into the kernel, in user code.
func (r *recorder) openOne(i, tid, cpu int) (int, error) {
	a := &r.attrs[i]
	fd, dropped, err := open(a, r.attrs, tid, cpu)
	if errors.Is(err, unix.EACCES) && a.Bits&(unix.PerfBitExcludeKernel|unix.PerfBitExcludeUser) == 0 {
		for k := range r.attrs {
			r.attrs[k].Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
		}
		var more []string
		if fd, more, err = open(a, r.attrs, tid, cpu); err == nil {
			for _, e := range r.opt.Events {
				r.UserOnly = append(r.UserOnly, e.Name)
				if e == SwitchesEvent {
					r.Notes = append(r.Notes, "where threads leave the CPU is not known, only when: the kernel switches them, of which users may record nothing (kernel.perf_event_paranoid is "+paranoid()+")")
				}
			}
		}
		dropped = append(dropped, more...)
	}
	for _, what := range dropped {
		r.Notes = append(r.Notes, "this kernel has no "+what)
	}
	return fd, err
}

// explain makes one line of an error of perf_event_open(2), with what to do.
func (r *recorder) explain(i int, err error) error {
	name := r.opt.Events[i].Name
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s %w here", name, ErrUnsupported)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%s %w here: %v", name, ErrUnsupported, err)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("%d events on %d CPUs need as many open files: raise ulimit -n", len(r.opt.Events), runtime.NumCPU())
	}
	if forbidden := Probe(); forbidden != nil {
		return forbidden
	}
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return fmt.Errorf("event %s: %w: kernel.perf_event_paranoid is %s; as root, or after sysctl kernel.perf_event_paranoid=1, it is allowed", name, ErrForbidden, paranoid())
	}
	return fmt.Errorf("event %s: %w", name, err)
}

// Probe reports why not even a thread's own time can be sampled here, nil if it can.
func Probe() error {
	a := unix.PerfEventAttr{
		Type: typeSoftware, Size: unix.PERF_ATTR_SIZE_VER5, Sample: 1_000_000, Sample_type: unix.PERF_SAMPLE_IP,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&a, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		return unix.Close(fd)
	}
	switch {
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: kernel.perf_event_paranoid is %s; after sysctl kernel.perf_event_paranoid=1 users may record, or root, or who has CAP_PERFMON", ErrForbidden, paranoid())
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: perf_event_open: %v; a container needs --cap-add PERFMON, or a seccomp profile that has it; --with callgrind needs neither", ErrForbidden, err)
	}
	return fmt.Errorf("%w: perf_event_open: %v", ErrForbidden, err)
}

// paranoid is the level of what users may record.
func paranoid() string {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return "not known"
	}
	return strings.TrimSpace(string(text))
}

// onlineCPUs are the numbers of the CPUs that are on.
func onlineCPUs() (cpus []int, err error) {
	const name = "/sys/devices/system/cpu/online"
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) { // a container that hides it
		for i := range runtime.NumCPU() {
			cpus = append(cpus, i)
		}
		return cpus, nil
	}
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err := errors.Join(err1, err2); err != nil || b < a || b > 1<<16 {
			return nil, fmt.Errorf("%s: %q", name, text)
		}
		for cpu := a; cpu <= b; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	slices.Sort(cpus)
	return cpus, nil
}

// pollTime is how long the reader waits for a ring that is half full, in milliseconds.
const pollTime = 100

// readRings copies the rings to the file until it is woken and they are empty.
func (r *recorder) readRings() error {
	polled := []unix.PollFd{{Fd: int32(r.wake), Events: unix.POLLIN}}
	for _, ring := range r.rings {
		polled = append(polled, unix.PollFd{Fd: int32(ring.fd), Events: unix.POLLIN})
	}
	var failed error
	for wait := pollTime; ; {
		if _, err := unix.Poll(polled, wait); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		last := polled[0].Revents != 0
		for i := range polled[1:] {
			if p := &polled[1+i]; p.Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				// The thread ended for whose event the ring was mapped. It would be said again and
				// again, and others still write to the ring, which nothing tells.
				p.Fd, wait = -1, pollTime/10
			}
		}
		n, before := 0, failed
		for _, ring := range r.rings {
			got, err := ring.drain(func(b []byte) error {
				if failed != nil {
					return nil // the rings are emptied all the same
				}
				return r.file.append(b)
			})
			n, failed = n+got, errors.Join(failed, err)
		}
		if n > 0 && failed == nil {
			r.Rounds++
			failed = r.file.endRound()
		}
		if before == nil && failed != nil && r.failed != nil {
			r.failed()
		}
		if last {
			return failed
		}
	}
}

func (r *recorder) close() (err error) {
	for _, ring := range r.rings {
		err = errors.Join(err, ring.close())
	}
	for _, list := range r.fds {
		for _, fd := range list {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	if r.wake >= 0 {
		err = errors.Join(err, unix.Close(r.wake))
	}
	if r.file != nil {
		err = errors.Join(err, r.file.close())
	}
	return err
}
