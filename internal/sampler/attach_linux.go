package sampler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Attach records what runs already ([Options.Processes] with what they start from now on, or
// [Options.System]), to a file that is not there, while run runs. The context of run ends when the
// caller's does, when all processes have ended, or when the file cannot be written; it has to
// return then. With no run, the recording is as long as that context. The end of the caller's
// context is no error.
//
//  1. The events are opened, disabled: one for each thread and CPU, as only such a one can be
//     inherited and have a ring.
//  2. What the kernel noted before the recording is made up from /proc.
//  3. The events are enabled, and what began meanwhile is made up, too.
func Attach(ctx context.Context, opt *Options, name string, run func(context.Context) error) (out *Recording, err error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if !opt.running() {
		return nil, errors.New("no processes to record")
	}
	began := time.Now()
	r := newRecorder(opt)
	defer func() { err = errors.Join(err, r.close()) }()
	processes, err := openProcesses(opt.Processes)
	if err != nil {
		return nil, err
	}
	defer processes.close()
	if err := r.attach(); err != nil {
		return nil, err
	}
	if r.file, err = create(name, r); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.failed = stop
	c := newCensus(r)
	if err := errors.Join(c.take(), r.enable(), c.take(), r.file.endRound(), r.begin()); err != nil {
		return nil, err
	}
	if c.hidden > 0 {
		r.Notes = append(r.Notes, hiddenNote(c.hidden))
	}
	if len(processes) > 0 {
		go func() {
			defer stop()
			processes.wait(ctx)
		}()
	}
	r.Before = time.Since(began)
	if run == nil {
		<-ctx.Done()
		return r.end(nil)
	}
	ran := run(ctx)
	return r.end(ran)
}

func hiddenNote(n int) string {
	if n == 1 {
		return "what one process has mapped may not be read by this user: its code has no names"
	}
	return fmt.Sprintf("what %d processes have mapped may not be read by this user: their code has no names", n)
}

// attach opens the events of all processes, or of all CPUs.
func (r *recorder) attach() error {
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	if r.opt.System {
		i, err := r.open(-1, cpus)
		if errors.Is(err, unix.EACCES) && Probe() == nil {
			return fmt.Errorf("the whole system: %w: kernel.perf_event_paranoid is %s; as root, or after sysctl kernel.perf_event_paranoid=0, it is allowed", ErrForbidden, paranoid())
		}
		if err != nil {
			return r.explain(i, err)
		}
		return nil
	}
	for _, pid := range r.opt.Processes {
		if err := r.attachTo(pid, cpus); err != nil {
			return err
		}
	}
	return nil
}

// attachTo opens the events of each thread of a process. What a thread starts from then on
// inherits them; whether a thread that began meanwhile did is not known.
func (r *recorder) attachTo(pid int, cpus []int) error {
	opened := 0
	listed := threads(pid)
	for _, tid := range listed {
		i, err := r.open(tid, cpus)
		switch {
		case errors.Is(err, unix.ESRCH): // it has ended
			continue
		case errors.Is(err, unix.EACCES) && Probe() == nil:
			return fmt.Errorf("process %d: %w: it is another user's, or more privileged; root may record it, or who has CAP_PERFMON", pid, ErrForbidden)
		case errors.Is(err, unix.EMFILE):
			return fmt.Errorf("process %d: %d threads and events on %d CPUs need as many open files: raise ulimit -n", pid, len(listed)*len(r.attrs), len(cpus))
		case err != nil:
			return fmt.Errorf("process %d: %w", pid, r.explain(i, err))
		}
		opened++
	}
	if opened == 0 {
		return gone(pid)
	}
	began := 0
	for _, tid := range threads(pid) {
		if _, found := slices.BinarySearch(listed, tid); !found {
			began++
		}
	}
	if began > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("process %d started threads while the events were opened (%d): they may be missing", pid, began))
	}
	return nil
}

func (r *recorder) enable() error {
	for _, list := range r.fds {
		for _, fd := range list {
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
				return fmt.Errorf("enabling events: %w", err)
			}
		}
	}
	return nil
}

// ErrGone says that a process is not there.
var ErrGone = errors.New("there is no such process")

func gone(pid int) error {
	return fmt.Errorf("process %d: %w: ps ax lists those that run", pid, ErrGone)
}

// processes are what [Attach] waits for: descriptors of pidfd_open(2), negative process IDs where
// the kernel has none (before Linux 5.3).
type processes []int

func openProcesses(pids []int) (list processes, err error) {
	for _, pid := range pids {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || pid <= 0 {
			list.close()
			return nil, gone(pid)
		}
		if group := statusField(status, "Tgid"); group != pid {
			list.close()
			return nil, fmt.Errorf("process %d: it is a thread of process %d: record that", pid, group)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		switch {
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // of a sandbox
			fd = -pid
		case err != nil:
			list.close()
			return nil, gone(pid)
		}
		list = append(list, fd)
	}
	return list, nil
}

// wait waits until all processes have ended, or the context has.
func (p processes) wait(ctx context.Context) {
	for left := append(processes(nil), p...); len(left) > 0 && ctx.Err() == nil; {
		polled := make([]unix.PollFd, len(left))
		for i, fd := range left {
			polled[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} // a negative one is passed over
		}
		if _, err := unix.Poll(polled, pollTime); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		still := left[:0]
		for i, fd := range left {
			if fd < 0 && !errors.Is(unix.Kill(-fd, 0), unix.ESRCH) || fd >= 0 && polled[i].Revents == 0 {
				still = append(still, fd)
			}
		}
		left = still
	}
}

func (p processes) close() {
	for _, fd := range p {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// statusField is a number in what /proc/PID/status says, -1 without it.
func statusField(status []byte, name string) int {
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
				return n
			}
		}
	}
	return -1
}
