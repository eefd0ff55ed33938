package probe

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// An Area is the memory that kernels load from and store to. They store to its first half,
// then follows a ring of pointers, and zeros.
type Area [4096]byte

// Where the ring is, with a line of the cache for each of its pointers. Kernels do not
// make it themselves: a core may remember what was stored of late, and not load it.
const (
	ring     = 2048
	ringStep = 64
	ringEnd  = 3072
)

// NewArea returns one that is on a page of its own.
func NewArea() *Area {
	memory := make([]byte, 2*len(Area{})-1)
	start := uintptr(unsafe.Pointer(&memory[0]))
	at := -start % uintptr(len(Area{}))
	area := (*Area)(memory[at:])
	for i := ring; i < ringEnd; i += ringStep {
		next := i + ringStep
		if next == ringEnd {
			next = ring
		}
		binary.NativeEndian.PutUint64(area[i:], uint64(start+at)+uint64(next))
	}
	return area
}

// A kernel runs its loop n times and returns how often it ran. n is at least 1.
type kernel func(n uint64, area *Area) uint64

// Runs reports whether this machine can run a probe.
func (p *Probe) Runs() bool {
	return kernels[p.Name] != nil && (p.Needs == "" || features()[p.Needs])
}

// Run runs the loop of a probe n times, n being at least 1.
func (p *Probe) Run(n uint64, area *Area) error {
	if got := kernels[p.Name](n, area); got != n {
		return fmt.Errorf("the kernel %s ran %d times instead of %d", p.Name, got, n)
	}
	return nil
}
