// Package calibrate measures what a mispredicted branch costs on the machine it runs
// on, without hardware counters.
//
//  1. The same branches run with outcomes that no predictor can know, and with outcomes
//     that it knows at once: the difference in time, over the number of misses, is the
//     cost. Branches are taken half of the time in both, so that both run the same
//     instructions.
//  2. One half of the branches of a random sequence are mispredicted whatever the
//     predictor does, as long as it never sees the sequence again: outcomes are new in
//     every round, for a predictor learns thousands of them by heart.
//  3. A cycle is the time of an addition in a chain of additions, measured in the same
//     round: costs in cycles do not depend on the frequency, nor does it have to be known.
//  4. Medians over many short rounds, in which the order changes, leave out interruptions.
package calibrate

import (
	"errors"
	"fmt"
	"time"
)

// errUnsupported says that there are no kernels for the architecture.
var errUnsupported = errors.New("the cost of a miss is not measured on this architecture, only on amd64 and arm64")

// An Estimate is a median with its 95 % interval.
type Estimate struct {
	Lo     float64 `json:"lo"`
	Centre float64 `json:"centre"`
	Hi     float64 `json:"hi"`
}

// A Level is what branches cost of which a known part is mispredicted.
type Level struct {
	MissProbability float64  `json:"miss_probability"`
	CyclesPerBranch Estimate `json:"cycles_per_branch"`
	// CyclesPerMiss is the difference to level 0 by miss, nil for that level.
	CyclesPerMiss *Estimate `json:"cycles_per_miss"`
}

// A Core is what was measured on one CPU.
type Core struct {
	// CPUs are the numbers of the CPUs of the kind, of which the first was measured.
	CPUs []int `json:"cpus"`
	// ID is what the feature CPUID of perf.data says: vendor,family,model,stepping on
	// x86, MIDR_EL1 on Arm.
	ID        string `json:"cpuid"`
	Name      string `json:"name"`       // as -mcpu of LLVM has it, "" if unknown
	ModelName string `json:"model_name"` // as the system has it, "" if unknown
	// PMU is the name of the kernel for its kind of CPU, cpu_core or cpu_atom on hybrid
	// processors of Intel, else "".
	PMU string `json:"pmu"`

	// Cost is in cycles by miss. Centre is what Load costs; Lo and Hi are the ends of all that
	// was measured, Register, Load at different rates and TwoLoads: what a miss costs
	// depends on what the branch waits for and what comes before, which is far more
	// uncertain than each of them.
	Cost   Estimate `json:"cost_cycles"`
	CostNS Estimate `json:"cost_ns"`
	// Register is the cost of branches that wait for nothing, that is of filling the
	// pipeline, Load of those behind a load and a comparison, TwoLoads of those behind
	// two loads in a row, all of them hits in the first cache. In cycles by miss.
	Register Estimate `json:"refill_cycles"`
	Load     Estimate `json:"with_load_cycles"`
	TwoLoads Estimate `json:"with_two_loads_cycles"`

	CycleNS Estimate `json:"cycle_ns"`
	// TakenPerCycle is how many branches a cycle are taken in small loops, from the
	// lowest to the highest of two layouts of the code.
	TakenPerCycle Estimate `json:"taken_branches_per_cycle"`
	// Select is the difference in cycles between unknown and known outcomes for code
	// without branches, which should be nothing.
	Select Estimate `json:"branchless_difference_cycles"`
	Levels []Level  `json:"linearity"` // of branches behind a load

	Rounds int `json:"rounds"`
}

// Options say how to measure.
type Options struct {
	// Now is a monotonic clock.
	Now func() time.Duration
	// Rounds is how often all is measured, at least MinRounds.
	Rounds int
	// Limit ends it early, 0 for 2 seconds.
	Limit time.Duration
}

// How often all is measured.
const (
	MinRounds     = 5 * batches
	DefaultRounds = 20 * batches
)

const (
	batches = 24                     // intervals come from the medians of so many parts of the time
	warmUp  = 100 * time.Millisecond // in which the frequency rises
)

// measure measures the CPU that it runs on. The caller keeps it there, see [pin].
func measure(opt Options) (*Core, error) {
	if !supported {
		return nil, errUnsupported
	}
	if opt.Rounds < MinRounds {
		return nil, fmt.Errorf("%d rounds are too few, it takes %d", opt.Rounds, MinRounds)
	}
	if opt.Limit == 0 {
		opt.Limit = 2 * time.Second
	}
	m := newHardware(opt.Now)
	start := opt.Now()
	for opt.Now()-start < warmUp {
		if _, err := m.time(trial{kernel: chain}); err != nil {
			return nil, err
		}
	}
	list, err := rounds(m, opt.Rounds, func() bool { return opt.Now()-start < opt.Limit })
	if err != nil {
		return nil, err
	}
	return estimate(list)
}

// rounds measures all trials n times, or as long as there is time.
func rounds(m machine, n int, more func() bool) ([]round, error) {
	var list []round
	for len(list) < n && more() {
		var r round
		for i := range trials {
			// Each trial comes at each place, in both directions.
			at := (i + len(list)) % len(trials)
			if len(list)/len(trials)%2 == 1 {
				at = len(trials) - 1 - at
			}
			ns, err := m.time(trials[at])
			if err != nil {
				return nil, err
			}
			r[at] = ns
		}
		list = append(list, r)
	}
	return list, nil
}

// A machine tells how long a trial takes, in nanoseconds.
type machine interface {
	time(trial) (float64, error)
}

// A round has the time of each of trials.
type round [len(trials)]float64

// A trial is a kernel with a part of branches that are mispredicted, in 1/64.
type trial struct {
	kernel kernel
	misses int
}

type kernel uint8

const (
	chain kernel = iota
	onRegister
	onLoad
	onTwoLoads
	noBranch
	nearJumps
	farJumps
)

// half is the most that can be mispredicted.
const half = 32

var trials = [...]trial{
	{chain, 0},
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
