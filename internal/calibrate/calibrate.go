// Package calibrate measures a core on the machine it runs on, without hardware counters.
//
//  1. Kernels are those of package probe, and branches whose outcomes no predictor can
//     know or each knows at once: the difference in time, over the number of misses, is the
//     cost of one. Outcomes are new in every repetition, for a predictor learns thousands of
//     them by heart.
//  2. A repetition takes some microseconds and stands between two guards: a chain of additions,
//     of which each is a cycle, and eight chains side by side, which tell the width. It counts
//     if both widths are those of a core that nobody else uses, and if the cycle is the same
//     before and after.
//  3. The full width is the largest that several guards agree on. It is no quantile of all:
//     where another thread is on the core most of the time, the median is the disturbed width.
//  4. Costs are cycles by the guards of the repetition: they do not depend on the frequency,
//     nor does it have to be known. They are medians, with intervals by order statistics.
//  5. What has too few repetitions that count is refused, one by one. Chains of latencies
//     do not need the width: those of a core that is never alone are measured anyway.
package calibrate

import (
	"errors"
	"fmt"
	"time"

	"profdiff/internal/asm"
	"profdiff/internal/probe"
)

// errUnsupported says that there are no kernels for the architecture.
var errUnsupported = errors.New("a core is not measured on this architecture, only on amd64 and arm64")

// A Level is what branches cost of which a known part is mispredicted.
type Level struct {
	MissProbability float64        `json:"miss_probability"`
	CyclesPerBranch probe.Estimate `json:"cycles_per_branch"`
	// CyclesPerMiss is the difference to level 0 by miss, nil for that level.
	CyclesPerMiss *probe.Estimate `json:"cycles_per_miss"`
}

// A Measured is what was measured of one kernel.
type Measured struct {
	probe.Estimate
	// Accepted repetitions count, of those tried.
	Accepted int `json:"accepted"`
	Tried    int `json:"tried"`
	// Shared is set if the core did not have its full width in repetitions that count, which
	// a chain of latencies does not need.
	Shared bool `json:"shared,omitempty"`
}

// A Core is what was measured on one CPU. What is nil was refused, or is in no file of
// the first version.
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
	Cost   *probe.Estimate `json:"cost_cycles"`
	CostNS *probe.Estimate `json:"cost_ns"`
	// Register is the cost of branches that wait for nothing, that is of filling the
	// pipeline, Load of those behind a load and a comparison, TwoLoads of those behind
	// two loads in a row, all of them hits in the first cache. In cycles by miss.
	Register *probe.Estimate `json:"refill_cycles"`
	Load     *probe.Estimate `json:"with_load_cycles"`
	TwoLoads *probe.Estimate `json:"with_two_loads_cycles"`

	CycleNS *probe.Estimate `json:"cycle_ns"`
	// TakenPerCycle is how many branches a cycle are taken in small loops, from the
	// lowest to the highest of two layouts of the code.
	TakenPerCycle *probe.Estimate `json:"taken_branches_per_cycle"`
	// Select is the difference in cycles between unknown and known outcomes for code
	// without branches, which should be nothing.
	Select *probe.Estimate `json:"branchless_difference_cycles"`
	Levels []Level         `json:"linearity"` // of branches behind a load

	// Rounds are the repetitions that were wanted of each kernel.
	Rounds int `json:"rounds"`

	FullWidth *FullWidth `json:"full_width,omitempty"`
	// Probes are cycles by names of package probe.
	Probes map[string]Measured `json:"probes,omitempty"`
	// Refused says why a probe, or a field of this, has no value.
	Refused map[string]string `json:"refused,omitempty"`
}

// Values are what was measured, as models of cores take it.
func (c *Core) Values() probe.Values {
	v := make(probe.Values)
	for name, m := range c.Probes {
		v[name] = m.Estimate
	}
	for name, e := range map[string]*probe.Estimate{probe.MissRegister: c.Register, probe.MissLoad: c.Load, probe.MissTwoLoads: c.TwoLoads} {
		if e != nil {
			v[name] = *e
		}
	}
	return v
}

// Options say how to measure.
type Options struct {
	// Rounds is how many repetitions of each kernel have to count, at least MinRounds.
	Rounds int
	// Limit ends it early.
	Limit time.Duration
	// Widths are full widths that were seen before, by [Core.ID]. A core that has another
	// thread on it all the time shows one width, and looks like a narrow one.
	Widths map[string]float64
}

// What is measured if nothing is said, and the least.
const (
	MinRounds     = 9
	DefaultRounds = 31
	DefaultLimit  = 9 * time.Second
	MinLimit      = time.Second
)

// measure measures the CPU that it runs on. The caller keeps it there, see [pin]. known is a
// full width that was seen before, or 0.
func measure(m machine, arch asm.Arch, known float64, opt Options) (*Core, error) {
	kernels, refused := kernelsOf(arch)
	if !supported || len(kernels) == 0 {
		return nil, errUnsupported
	}
	if opt.Rounds < MinRounds {
		return nil, fmt.Errorf("%d rounds are too few, it takes %d", opt.Rounds, MinRounds)
	}
	until := m.now() + opt.Limit
	s, err := newSampler(m, kernels)
	if err != nil {
		return nil, err
	}
	s.known = known
	if err := s.sample(opt.Rounds, until); err != nil {
		return nil, err
	}
	c, err := s.estimate(refused)
	if err != nil {
		return nil, err
	}
	c.Rounds = opt.Rounds
	if len(c.Refused) == 0 {
		c.Refused = nil
	}
	return c, nil
}
