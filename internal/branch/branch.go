// Package branch has what recordings say of the branches of a program, in one form for all
// kinds of recordings.
//
//  1. What a recording can tell depends on its kind, the [Tier]. A [Table] has what all
//     have, and a part for what only branch stacks tell ([StackTable]) or only samples of
//     single addresses and counters do ([SampledTable]); so has each [Branch].
//  2. Package recording reads a recording and asks the package of its kind for the table:
//     simulated, stacks, samples or totals. These stand on code (binaries), events (what
//     is counted), counters, estimate (intervals) and skid (branches before a sample).
//  3. Packages advice, annotate and diff say what to do about branches, list their code,
//     and compare two sides.
//
// Branch stacks (LBR of Intel and AMD, BRBE of Arm) name the branch exactly but hold
// branches that were taken only: a conditional branch that was mispredicted and not taken
// shows up, if at all, as a gap of many cycles. What is not known stays unknown, it is
// never taken as zero.
package branch

import (
	"profdiff/internal/symbolizer"
	"profdiff/internal/verdict"
)

// A Tier says what a table was made from, best first.
type Tier string

// The tiers.
const (
	TierSimulated Tier = "S" // a simulated predictor: exact counts
	TierPrecise   Tier = "A" // precise samples of single branches, taken or not
	TierStacks    Tier = "B" // branch stacks: exact branches, those not taken by inference
	TierSampled   Tier = "C" // imprecise samples of misses: candidates
	TierCounters  Tier = "D" // counters read with samples: functions
	TierTotals    Tier = "T" // totals of perf stat or simpleperf stat
)

// Describe says what a tier is made from.
func (t Tier) Describe() string {
	switch t {
	case TierSimulated:
		return "simulated"
	case TierPrecise:
		return "precise samples of branches"
	case TierStacks:
		return "branch stacks"
	case TierSampled:
		return "imprecise samples"
	case TierCounters:
		return "counters read with samples"
	case TierTotals:
		return "totals"
	}
	return "unknown"
}

// A Kind says what a branch is.
type Kind string

// The kinds. A branch without known code has the kind that the kernel recorded, if
// any.
const (
	UnknownKind Kind = ""
	Conditional Kind = "conditional"
	Direct      Kind = "direct"
	Indirect    Kind = "indirect"
	Call        Kind = "call"
	Return      Kind = "return"
	Transfer    Kind = "transfer" // interrupts, system calls and their returns
)

// A Class says how well the predictor has learnt a branch.
type Class string

// The classes, by rate of misses and the rate h = min(p, 1-p) of a predictor that
// always says what is more frequent.
const (
	Random       Class = "random"        // rate at least 0.8 h: a candidate for code without the branch
	PartlyLearnt Class = "partly learnt" // rate at least 0.3 h
	Learnt       Class = "learnt"
)

// A Table is what a recording says of its branches.
type Table struct {
	Name, Format, Tool, Arch, CPU string
	// Recorded says when it was recorded.
	Recorded verdict.Moment

	Tier   Tier
	Events []Event
	// Unknown says why the recording does not tell which branches were mispredicted,
	// "" if it does.
	Unknown string
	// Scaled is set if Executed, Taken and Misses of the branches are estimates for
	// the whole recording, or were counted in all of it ([TierSimulated]). Else they
	// count entries of stacks.
	Scaled  bool
	Samples Account // of the recording
	// Cost is what a miss costs at a branch without a cost of its own, nil if unknown.
	Cost *Cost
	// Instructions and Cycles are the totals of the recording, nil if unknown.
	Instructions, Cycles *float64
	Misses               int64 // entries that were mispredicted, in simulations executions
	// Branches are ordered by cycles lost if these are known, else by misses, else by
	// how often they were taken.
	Branches []Branch
	// Totals are of each PMU: sampled, read from counters or taken from perf stat.
	Totals []Totals
	// Stacks and Sampled are what only branch stacks tell, and what only samples of single
	// addresses and counters do. Each is nil for other recordings.
	Stacks  *StackTable
	Sampled *SampledTable
	// Advice is what to do about the branches together, "" if nothing.
	Advice   string
	Warnings []string
}

// Counted reports whether all was counted, by a simulation: nothing is estimated and
// nothing tested.
func (t *Table) Counted() bool { return t.Tier == TierSimulated }

// An Account follows what was read: In = Used + Dropped.
type Account struct {
	In      int64            `json:"in"`
	Used    int64            `json:"used"`
	Dropped map[string]int64 `json:"dropped"` // by reason
	Lost    int64            `json:"lost"`    // never reached the recording, not part of In
}

// Drop counts what is not used, for a reason.
func (a *Account) Drop(reason string, n int64) {
	if n == 0 {
		return
	}
	if a.Dropped == nil {
		a.Dropped = make(map[string]int64)
	}
	a.Dropped[reason] += n
}

// Reasons to drop samples, of all kinds of recordings.
const (
	DropEvent        = "other events"
	DropUnknownEvent = "unknown event"
	DropBadPeriod    = "weight over 2^63"
)

// Balanced reports whether all is accounted for.
func (a *Account) Balanced() bool {
	n := a.Used
	for _, v := range a.Dropped {
		n += v
	}
	return n == a.In
}

// An Event is an event of the recording.
type Event struct {
	Name    string  `json:"name"`
	Counts  Counts  `json:"counts"`
	Samples int64   `json:"samples"`
	Weight  float64 `json:"weight"`
	Period  uint64  `json:"period"` // 0 if the recorder varied it
	Precise bool    `json:"precise"`
	// Unplaced is what a simulation counted at no place, beside Weight.
	Unplaced float64 `json:"unplaced"`
	// Rates is set if rates are made from the stacks of this event.
	Rates bool `json:"rates"`
	// Unsettled are samples with stacks that are not in Weight, nor in rates: their period
	// had not settled yet.
	Unsettled int64 `json:"-"`
	HasStacks bool  `json:"-"`
}

// Counts says what an event counts.
type Counts string

// What events count.
const (
	CountsOther        Counts = "other"
	CountsTaken        Counts = "taken branches"
	CountsBranches     Counts = "branches"
	CountsMisses       Counts = "mispredicted branches"
	CountsCycles       Counts = "cycles"
	CountsInstructions Counts = "instructions"
)

// An Estimate is a value with its 95 % interval. If values were counted
// ([TierSimulated]), Lo and Hi are Value.
type Estimate struct {
	Value, Lo, Hi float64
}

// A RateMethod says how the rate of misses of a branch was found.
type RateMethod string

// The methods.
const (
	// AllSeen is for branches whose misses are all seen.
	AllSeen RateMethod = "all"
	// ByCycles counts executions that were not taken as misses if they were slow.
	ByCycles RateMethod = "cycles"
	// ByBounds says that misses of executions that were not taken are not seen.
	ByBounds RateMethod = "bounds"
	// Counted says that all executions were counted: there is no interval.
	Counted RateMethod = "counted"
)

// A Rate is the part of a branch's executions that were mispredicted.
type Rate struct {
	// Value is nil if only the bounds are known.
	Value *float64
	// Bounds is between what values the rate is if none or all of the executions that
	// were not taken were misses. Both are Value where there are none such.
	Bounds [2]float64
	// CI is the 95 % interval: of Value, or if that is not known from the lower end
	// for the lower bound to the upper end for the upper bound.
	CI     [2]float64
	Method RateMethod
}

// A Place is where a branch is.
type Place struct {
	DSO, BuildID string
	// Address is in the symbol table of the DSO.
	Address uint64
	// ByLine is set if this is all branches of a line, whose addresses are not known.
	ByLine bool
	// Function is "" if it is not known. Offset is from its start, nil if that is not.
	Function string
	Offset   *uint64
	File     string
	Line     int64
	// Inlined are the functions at the branch, innermost first and the function that
	// holds the code last; nil if nothing is known.
	Inlined []symbolizer.Frame
}

// A Loss is what misses cost.
type Loss struct {
	// Cost is what one miss costs, nil if unknown. CyclesLost is what all do, from the
	// lowest to the highest, Centre with the usual cost.
	Cost       *Cost
	CyclesLost *[2]float64
	Centre     float64
	Share      *float64 // of all cycles
}

// Lose sets what a number of misses cost. cycles are all there were, nil if unknown.
func (l *Loss) Lose(misses Estimate, cycles *float64) {
	if l.Cost == nil {
		return
	}
	l.CyclesLost = &[2]float64{misses.Lo * l.Cost.Lo, misses.Hi * l.Cost.Hi}
	l.Centre = misses.Value * l.Cost.Centre
	l.ShareOf(cycles)
}

// ShareOf compares the cycles lost with all there were, nil if unknown.
func (l *Loss) ShareOf(cycles *float64) {
	if l.CyclesLost != nil && cycles != nil && *cycles > 0 {
		l.Share = new(l.Centre / *cycles)
	}
}

// A Branch is one branch of the program.
type Branch struct {
	Place
	Kind Kind
	// PMU names the kind of core that the misses were on, "" if there is one kind.
	PMU string

	// Executed, Taken, NotTaken and Misses are in executions of the recording, or in
	// entries, see Table.Scaled. nil is unknown. Misses that ended not taken are in
	// Misses only if Rate.Method is not ByBounds.
	Executed, Taken, NotTaken, Misses *float64
	// MissesCI is the 95 % interval of Misses if these are of the whole recording.
	MissesCI  *[2]float64
	MissShare *float64  // of all misses that are seen
	MPKI      *Estimate // mispredictions per 1000 instructions
	// N executions, of which NTaken were taken and NMisses missed, are what the rates
	// are made from, in so many samples.
	N, NTaken, NMisses, Samples int64
	PTaken                      *Estimate
	Rate                        *Rate
	// Classes are what the rate leaves possible, none if there are too few samples.
	Classes []Class
	// Enough is set if there are at least MinMisses misses, or no misses are known.
	Enough bool
	Loss

	// Stacks and Sampled are what only branch stacks tell, and what only samples of single
	// addresses do. Each is nil for other recordings.
	Stacks  *StackCounts
	Sampled *SampledCounts

	// BreakEven is the rate of misses from which code without the branch is faster,
	// nil if that is not known.
	BreakEven *float64
	// Advice is what to do about the branch, nil if nothing can be recommended.
	Advice *Advice
}

// SetSymbol fills in what a symbol says of a place.
func (p *Place) SetSymbol(sym *symbolizer.Symbol) {
	if sym.DSO != nil {
		p.Address = sym.Vaddr
	}
	if len(sym.Frames) == 0 {
		return
	}
	last := sym.Frames[len(sym.Frames)-1]
	p.Function = last.Name
	if sym.Start != 0 {
		offset := sym.Vaddr - sym.Start
		p.Offset = &offset
	}
	p.File, p.Line = sym.Frames[0].File, sym.Frames[0].Line
	p.Inlined = sym.Frames
}

// Samples that it takes to show a branch, and a rate.
const (
	MinMisses     = 10
	MinExecutions = 30
)
