package predict

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/llvm"
	"profdiff/internal/predict/core"
)

// An Evidence is what a prediction rests on: all reasons why it may be wrong, each with
// its part of the standard error.
//
//  1. The model of the core errs as it did for kernels that were measured on two CPUs,
//     by how well it is known: its [Tier].
//  2. How often branches are taken and mispredicted may be known, or not.
//  3. The code may do what is not modelled.
//
// The reasons are independent of each other, and add in quadrature.
type Evidence struct {
	Tier Tier
	// Doubts are the reasons, that with the greatest share first. There is always one,
	// of the model.
	Doubts []Doubt
	// Below and Above are the standard errors of the logarithm of the speed-up, towards
	// a lesser and a greater one.
	Below, Above float64
}

// A Doubt is one reason why a prediction may be wrong.
type Doubt struct {
	Cause Cause
	Side  int // 0 for base, 1 for head, -1 for the pair
	// Below and Above are the standard errors of the logarithm of the speed-up that it
	// makes.
	Below, Above float64
	Share        float64 // of the variance of all
	Remedy       Remedy
}

// A Tier says how well the model of a core is known.
type Tier string

// The tiers, best first.
const (
	TierFitted     Tier = "fitted"     // measured on the CPU, and fitted to kernels that were measured there
	TierProbed     Tier = "probed"     // by what was measured on the CPU with probes, of a core that they were tried on
	TierCalibrated Tier = "calibrated" // by what was measured on the CPU with probes that were made for others
	TierRepaired   Tier = "repaired"   // LLVM's own model, without the errors of it that are known
	TierGeneration Tier = "generation" // LLVM's model of another generation of the vendor
	TierVendor     Tier = "vendor"     // LLVM's model of another vendor's core, or one with errors that are known
)

// tier is how well the model of a machine is known.
func (m *Machine) tier() Tier {
	switch {
	case m.Core != nil && len(m.Core.Fitted) > 0:
		return TierFitted
	case m.Core != nil && core.Tried(m.Model.CPU):
		return TierProbed
	case m.Core != nil:
		return TierCalibrated
	case slices.Contains([]llvm.Kinship{llvm.KinOwn, llvm.KinCore, llvm.KinFamily}, m.Model.Kinship):
		return TierRepaired
	case m.Model.Kinship == llvm.KinGeneration:
		return TierGeneration
	}
	return TierVendor
}

// sigma is the standard error of the logarithm of a predicted speed-up that a tier leaves:
// somewhat more than kernels show that were measured on two CPUs, as unknown code errs more.
// What chose it and what it was judged on stands in mca-cases/README.md. On kernels that they
// were not fitted to, fitted cores err as much as probed ones.
func (t Tier) sigma() float64 {
	switch t {
	case TierFitted, TierProbed:
		return 0.16
	case TierRepaired:
		return 0.24
	case TierCalibrated:
		return 0.26
	case TierGeneration:
		return 0.34
	}
	return 0.42
}

// remedy is what makes a better tier of a CPU: to calibrate it, where that makes the interval narrower.
func (t Tier) remedy(cpu string) Remedy {
	calibrated := TierCalibrated
	if core.Tried(cpu) {
		calibrated = TierProbed
	}
	if calibrated.sigma() >= t.sigma() {
		return ""
	}
	return RemedyCalibrate
}

// sigma is the standard error of the logarithm of a predicted speed-up that rates leave,
// beside their bounds.
func (s Source) sigma() float64 {
	switch s {
	case SourceSimulated:
		return 0.10
	case SourceAssumed:
		return 0.50
	}
	return 0
}

// remedy is what makes better rates.
func (s Source) remedy() Remedy {
	switch s {
	case SourceSimulated:
		return RemedyStacks
	case SourceAssumed:
		return RemedyCallgrind
	}
	return ""
}

// A Cause is what a doubt is about.
type Cause string

// The causes.
const (
	CauseModel        Cause = "model"        // the model of the core, by its tier
	CauseRates        Cause = "rates"        // how often branches are taken and mispredicted, by its source
	CauseCalls        Cause = "calls"        // calls of code that is not known
	CauseIndirect     Cause = "indirect"     // where indirect jumps go
	CauseInstructions Cause = "instructions" // instructions that LLVM's model does not know
	CauseControlFlow  Cause = "control flow" // loops with several entries, missing edges
	CauseDivisions    Cause = "divisions"    // which take longer for greater quotients
	CauseForwarding   Cause = "forwarding"   // loads of what was stored just before, in places that data decide
	CauseTaken        Cause = "taken"        // whether taken branches are foreseen in pairs
	CauseWalks        Cause = "walks"        // how the walks through the code differ
	CauseContention   Cause = "contention"   // atomic operations and fences, few of them
	CauseMeasured     Cause = "measured"     // what was measured of the same runs is beyond what the code explains
)

// A Remedy is what would make a doubt less, "" if nothing at hand does.
type Remedy string

// The remedies.
const (
	RemedyCalibrate Remedy = "calibrate" // on the CPU, and --calibration
	RemedyCallgrind Remedy = "callgrind" // count branches: --branches-before and --branches-after
	RemedyStacks    Remedy = "stacks"    // record branch stacks, perf record -b
	RemedyMeasure   Remedy = "measure"   // both sides, on the CPU
)

// z is the half-width of the 90 % interval in standard errors: more than that of a normal
// distribution, as standard errors from some dozens of kernels are themselves not certain.
// The share of kernels that it holds is tested, see TestAccuracy.
const z = 1.8

// newEvidence adds doubts up.
func newEvidence(tier Tier, doubts []Doubt) Evidence {
	e := Evidence{Tier: tier}
	var sum float64
	for _, d := range doubts {
		if d.Below <= 0 && d.Above <= 0 {
			continue
		}
		e.Below, e.Above = math.Hypot(e.Below, d.Below), math.Hypot(e.Above, d.Above)
		d.Share = d.Below*d.Below + d.Above*d.Above
		sum += d.Share
		e.Doubts = append(e.Doubts, d)
	}
	for i := range e.Doubts {
		e.Doubts[i].Share /= sum
	}
	slices.SortStableFunc(e.Doubts, func(a, b Doubt) int { return cmp.Compare(b.Share, a.Share) })
	return e
}

// without is the evidence if nothing were in doubt about a cause.
func (e *Evidence) without(c Cause) Evidence {
	rest := slices.DeleteFunc(slices.Clone(e.Doubts), func(d Doubt) bool { return d.Cause == c })
	return newEvidence(e.Tier, rest)
}

// Interval is the interval of a speed-up.
func (e *Evidence) Interval(speedup float64) Interval {
	return Interval{speedup, speedup * math.Exp(-z*e.Below), speedup * math.Exp(z*e.Above)}
}

// smallShare is the share of the variance below which less of a doubt changes nothing.
const smallShare = 0.1

// Dominant is the doubt with the greatest share that something can be done about, nil if
// nothing can that would be seen.
func (e *Evidence) Dominant() *Doubt {
	for i := range e.Doubts {
		if d := &e.Doubts[i]; d.Remedy != "" && d.Share >= smallShare {
			return &e.Doubts[i]
		}
	}
	return nil
}
