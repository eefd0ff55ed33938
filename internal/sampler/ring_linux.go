package sampler

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

var pageSize = os.Getpagesize()

// A ring is the memory in which the kernel writes the records of a CPU.
type ring struct {
	fd     int
	memory []byte
	meta   *unix.PerfEventMmapPage
	data   []byte // a power of two long
}

// newRing maps a ring of 2^n pages.
func newRing(fd, pages int) (*ring, error) {
	memory, err := unix.Mmap(fd, 0, (1+pages)*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping a ring of %d pages: %w", pages, err)
	}
	return &ring{fd, memory, (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0])), memory[pageSize:]}, nil
}

// drain hands on what the kernel has written since the last time, in one piece or two.
func (r *ring) drain(to func([]byte) error) (int, error) {
	head := atomic.LoadUint64(&r.meta.Data_head)
	tail := r.meta.Data_tail // only we write it
	if head == tail {
		return 0, nil
	}
	mask := uint64(len(r.data) - 1)
	from, end := tail&mask, head&mask
	var err error
	if from < end {
		err = to(r.data[from:end])
	} else if err = to(r.data[from:]); err == nil && end > 0 {
		err = to(r.data[:end])
	}
	atomic.StoreUint64(&r.meta.Data_tail, head)
	return int(head - tail), err
}

func (r *ring) close() error { return unix.Munmap(r.memory) }
