package calibrate

import (
	"fmt"
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A mask is cpu_set_t of sched_setaffinity(2).
type mask [1024 / bits.UintSize]uint

func (m *mask) call(trap uintptr) error {
	_, _, errno := syscall.RawSyscall(trap, 0, unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m)))
	if errno != 0 {
		return errno
	}
	return nil
}

// allowed are the CPUs that this thread may run on.
func allowed() ([]int, error) {
	var m mask
	if err := m.call(syscall.SYS_SCHED_GETAFFINITY); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var list []int
	for i := range len(m) * bits.UintSize {
		if m[i/bits.UintSize]>>(i%bits.UintSize)&1 != 0 {
			list = append(list, i)
		}
	}
	return list, nil
}

// pin keeps the calling goroutine on one CPU until unpin is called.
func pin(cpu int) (unpin func(), err error) {
	var before, m mask
	if cpu < 0 || cpu >= len(m)*bits.UintSize {
		return nil, fmt.Errorf("cpu %d: there is none", cpu)
	}
	runtime.LockOSThread()
	if err := before.call(syscall.SYS_SCHED_GETAFFINITY); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	m[cpu/bits.UintSize] = 1 << (cpu % bits.UintSize)
	if err := m.call(syscall.SYS_SCHED_SETAFFINITY); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("cpu %d: sched_setaffinity: %w", cpu, err)
	}
	return func() {
		// A thread that cannot go back ends with its goroutine, which stays locked.
		if before.call(syscall.SYS_SCHED_SETAFFINITY) == nil {
			runtime.UnlockOSThread()
		}
	}, nil
}

// currentCPU is the one that the calling thread runs on, -1 if that is not known.
func currentCPU() int {
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}
