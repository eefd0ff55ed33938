package calibrate

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"
)

// Sizes of a trial.
const (
	branches = 1 << 14 // of a kernel, also of those without
	adds     = 1 << 17
	warmPart = 4 // a trial is preceded by a fourth of it that is not timed
)

// hardware runs the kernels.
type hardware struct {
	now      func() time.Duration
	random   *rand.PCG
	outcomes [branches/32 + 1]uint32
	values   [branches]byte
	table    [256]byte
}

func newHardware(now func() time.Duration) *hardware {
	h := &hardware{now: now, random: rand.NewPCG(1, 2)}
	for i := range h.table {
		h.table[i] = byte(i)
	}
	return h
}

func (h *hardware) time(t trial) (float64, error) {
	if t.kernel != chain {
		n := branches / warmPart
		h.fill(t, n)
		h.run(t.kernel, n)
	}
	want := h.fill(t, branches)
	start := h.now()
	got := h.run(t.kernel, branches)
	d := h.now() - start
	switch {
	case got != want:
		return 0, fmt.Errorf("a kernel counted %d instead of %d", got, want)
	case d <= 0:
		return 0, fmt.Errorf("the clock is too coarse: a measurement took %v", d)
	}
	return float64(d), nil
}

// fill makes the outcomes of n branches and returns how many are not taken, or else what
// the kernel will count. Of each 64 branches those whose misses are wanted, twice as
// many as these, are random, the others are taken by turns: each branch in the code of
// the kernels has its place among the 64, so that these always go the same way.
func (h *hardware) fill(t trial, n int) uint64 {
	switch t.kernel {
	case chain:
		return adds
	case nearJumps, farJumps:
		return uint64(n / 4)
	}
	random := randomPlaces(t.misses)
	var sum uint64
	for i := range n / 64 {
		w := 0x5555555555555555 ^ h.random.Uint64()&random
		sum += uint64(bits.OnesCount64(w))
		if t.kernel == onRegister {
			h.outcomes[2*i], h.outcomes[2*i+1] = uint32(w), uint32(w>>32)
			continue
		}
		var low uint64
		for j := range 64 {
			if j%8 == 0 {
				low = h.random.Uint64()
			}
			h.values[64*i+j] = byte(w>>j&1)<<7 | byte(low>>(j%8*8))&0x7f
		}
	}
	return sum
}

// randomPlaces are the places of 64 at which outcomes are random: pairs of neighbours,
// which would go different ways, evenly spread.
func randomPlaces(misses int) (mask uint64) {
	for i := range misses {
		mask |= 3 << (i * 32 / misses * 2)
	}
	return mask
}

// run runs a kernel for n branches.
func (h *hardware) run(k kernel, n int) uint64 {
	switch k {
	case chain:
		return addChain(adds / 64)
	case onRegister:
		return branchOnRegister(&h.outcomes[0], n/32)
	case onLoad:
		return branchOnLoad(&h.values[0], n/16)
	case onTwoLoads:
		return branchOnTwoLoads(&h.values[0], n/16, &h.table)
	case noBranch:
		return selectOnLoad(&h.values[0], n/16)
	case nearJumps:
		return jumpsNear(n / 4)
	}
	return jumpsFar(n / 4)
}
