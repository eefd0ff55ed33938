package calibrate

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"

	"profdiff/internal/asm"
	"profdiff/internal/probe"
)

// A kernel is what is measured: a probe, or a trial, which has data.
type kernel struct {
	name string
	*probe.Probe
	trial trial
}

// nothingName is the shortest probe: its time is what timing costs.
const nothingName = "taken.one"

// nopName is the probe that an emulator makes nothing of, floatName one that it takes long for.
const (
	nopName   = "nop.throughput"
	floatName = "float.add.latency"
)

// perRound is by what the time of a round is divided: how often it has what is measured,
// and of trials the branches, which are their rounds.
func (k *kernel) perRound() float64 {
	if k.Probe == nil {
		return 1
	}
	return float64(k.Unroll * k.Count)
}

// least and most are the rounds of a repetition; all are multiples of the least.
func (k *kernel) least() int {
	if k.Probe == nil {
		return 64
	}
	return 1
}

func (k *kernel) most() int {
	if k.Probe == nil {
		return branches
	}
	return 1 << 20
}

// fresh reports whether a kernel needs new data before each repetition.
func (k *kernel) fresh() bool { return k.Probe == nil }

// featureMissing starts the reason of what this CPU can never run.
const featureMissing = "the CPU has no "

// kernelsOf returns all that can be measured here of an architecture.
func kernelsOf(arch asm.Arch) (list []*kernel, refused map[string]string) {
	table := probe.Table(arch)
	if table == nil {
		return nil, nil
	}
	refused = make(map[string]string)
	for i := range table {
		p := &table[i]
		if !p.Runs() {
			refused[p.Name] = featureMissing + p.Needs
			continue
		}
		list = append(list, &kernel{name: p.Name, Probe: p})
	}
	for _, t := range trials {
		list = append(list, &kernel{name: t.String(), trial: t})
	}
	return list, refused
}

// A trial is a kernel of branches, with a part that is mispredicted, in 1/64.
type trial struct {
	code   code
	misses int
}

func (t trial) String() string { return fmt.Sprintf("%s/%d", codeNames[t.code], t.misses) }

type code uint8

const (
	onRegister code = iota
	onLoad
	onTwoLoads
	noBranch
	nearJumps
	farJumps
)

var codeNames = [...]string{"register", "load", "two loads", "no branch", "near jumps", "far jumps"}

// half is the most that can be mispredicted.
const half = 32

var trials = [...]trial{
	{onRegister, 0},
	{onRegister, half},
	{onLoad, 0},
	{onLoad, 2},
	{onLoad, 8},
	{onLoad, 16},
	{onLoad, half},
	{onTwoLoads, 0},
	{onTwoLoads, half},
	{noBranch, 0},
	{noBranch, half},
	{nearJumps, 0},
	{farJumps, 0},
}

// Sizes of trials.
const (
	branches = 1 << 14 // of a repetition, at most
	warmPart = 4       // it is preceded by a fourth of it that is not timed
)

// hardware runs kernels on the CPU that it is on.
type hardware struct {
	start    time.Time
	area     *probe.Area
	random   *rand.PCG
	outcomes [branches/32*(1+warmPart)/warmPart + 1]uint32
	values   [branches * (1 + warmPart) / warmPart]byte
	table    [256]byte
	// warmed is how many branches of the data are for warming up, want what those that
	// follow will count.
	warmed int
	want   uint64
}

func newHardware() *hardware {
	h := &hardware{start: time.Now(), area: probe.NewArea(), random: rand.NewPCG(1, 2)}
	for i := range h.table {
		h.table[i] = byte(i)
	}
	return h
}

func (h *hardware) now() time.Duration    { return time.Since(h.start) }
func (h *hardware) pause(d time.Duration) { time.Sleep(d) }
func (h *hardware) cpu() int              { return currentCPU() }

func (h *hardware) prepare(k *kernel, n int) {
	if k.Probe == nil {
		h.warmed = max(64, n/warmPart/64*64)
		h.fill(k.trial, 0, h.warmed)
		h.want = h.fill(k.trial, h.warmed, n)
	}
}

func (h *hardware) warm(k *kernel, n int) error {
	if k.Probe != nil {
		return k.Run(uint64(max(1, n/warmPart)), h.area)
	}
	h.branches(k.trial.code, 0, h.warmed)
	return nil
}

func (h *hardware) run(k *kernel, n int) error {
	if k.Probe != nil {
		return k.Run(uint64(n), h.area)
	}
	if got := h.branches(k.trial.code, h.warmed, n); got != h.want {
		return fmt.Errorf("the kernel %s counted %d instead of %d", k.name, got, h.want)
	}
	return nil
}

// fill makes the outcomes of n branches from the one at from on and returns how many are
// not taken, or else what the kernel will count. Of each 64 branches those whose misses are wanted, twice as
// many as these, are random, the others are taken by turns: each branch in the code of
// the kernels has its place among the 64, so that these always go the same way.
func (h *hardware) fill(t trial, from, n int) uint64 {
	if t.code == nearJumps || t.code == farJumps {
		return uint64(n / 4)
	}
	random := randomPlaces(t.misses)
	var sum uint64
	for i := from / 64; i < (from+n)/64; i++ {
		w := 0x5555555555555555 ^ h.random.Uint64()&random
		sum += uint64(bits.OnesCount64(w))
		if t.code == onRegister {
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

// branches runs n branches from the one at from on.
func (h *hardware) branches(c code, from, n int) uint64 {
	switch c {
	case onRegister:
		return branchOnRegister(&h.outcomes[from/32], n/32)
	case onLoad:
		return branchOnLoad(&h.values[from], n/16)
	case onTwoLoads:
		return branchOnTwoLoads(&h.values[from], n/16, &h.table)
	case noBranch:
		return selectOnLoad(&h.values[from], n/16)
	case nearJumps:
		return jumpsNear(n / 4)
	}
	return jumpsFar(n / 4)
}
