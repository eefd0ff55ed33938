package probe

import (
	"fmt"
	"unsafe"
)

// An Area is the memory that kernels load from and store to.
type Area [4096]byte

// NewArea returns one that is on a page of its own.
func NewArea() *Area {
	memory := make([]byte, 2*len(Area{})-1)
	at := -uintptr(unsafe.Pointer(&memory[0])) % uintptr(len(Area{}))
	return (*Area)(memory[at:])
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
