package branch

import "slices"

// A Confidence says how well it is known which branch a row is of.
type Confidence string

// Rank is higher for more.
func (c Confidence) Rank() int {
	return slices.Index([]Confidence{Low, Medium, High, OfLine, Exact}, c)
}

// Totals are what one PMU counted in the whole recording. Cores of different kinds
// have PMUs of their own and are never added up.
type Totals struct {
	// PMU is "" if all events are of one.
	PMU string
	// Names of the events that the amounts are of, "" if there is none.
	MissEvent, BranchEvent, InstructionEvent, CycleEvent string
	// nil is unknown.
	Misses, Branches, Instructions, Cycles *Amount
	Rate, MPKI                             *Ratio
	// Source says where the numbers are from: "samples", "counters" or the name of the
	// file of perf stat or simpleperf stat.
	Source string
	// RateRefused and MPKIRefused say why there is no such ratio, "" if there is or if
	// one of the events is missing.
	RateRefused, MPKIRefused string
}

// A Function is what samples or counters say of one function, or of all code of a DSO
// that has no names.
type Function struct {
	PMU          string
	DSO, BuildID string
	Name         string // "" if it is not known
	File         string
	Line         int64
	// Misses are counted where samples are: their branches may be in other functions.
	Misses                         Amount
	Branches, Instructions, Cycles *Amount
	// Share is the part of all misses of the PMU.
	Share *float64
	// Rate is misses per branch, both of samples in the function.
	Rate, MPKI *Ratio
	CyclesLost *[2]float64
	// Named is the number of samples of misses for which branches are named, Unnamed the
	// number of the others, by reason.
	Named   int64
	Unnamed map[string]int64
	Enough  bool
	Centre  float64
}

// A Block is a basic block with samples of misses. The numbers are of the block that
// the sample is in, without any attribution to branches.
type Block struct {
	PMU          string
	DSO, BuildID string
	Function     string
	// Start and End are addresses in the symbol table of the DSO.
	Start, End       uint64
	Misses, Branches Amount
	Rate             *Ratio
}

// Attribution says for how many samples of misses branches are named.
type Attribution struct {
	In    int64 `json:"in"`    // samples of misses
	Named int64 `json:"named"` // with at least one candidate
	// Exact is the number of those named whose branch the sample is at.
	Exact   int64            `json:"exact"`
	Unnamed map[string]int64 `json:"unnamed"` // in functions or files that are known, by reason
	// Unmapped are in memory that no file is known of.
	Unmapped int64 `json:"unmapped"`
	// Skid is how likely a sample is 0, 1, 2, … instructions behind its branch, nil if
	// there are no imprecise samples with candidates.
	Skid []float64 `json:"skid"`
}

// Balanced reports whether all samples are accounted for.
func (a *Attribution) Balanced() bool {
	n := a.Named + a.Unmapped
	for _, v := range a.Unnamed {
		n += v
	}
	return n == a.In
}

// A SampledTable is what samples of single addresses or counters tell of a recording.
type SampledTable struct {
	// Attribution says for how many samples branches are named.
	Attribution Attribution
	// Functions and Blocks are ordered by what misses cost.
	Functions []Function
	Blocks    []Block
}

// Functions are what samples or counters say of functions, by what misses cost.
func (t *Table) Functions() []Function {
	if t.Sampled == nil {
		return nil
	}
	return t.Sampled.Functions
}

// Blocks are what samples say of basic blocks, by their misses.
func (t *Table) Blocks() []Block {
	if t.Sampled == nil {
		return nil
	}
	return t.Sampled.Blocks
}

// SampledCounts are what samples of single addresses tell of a branch.
type SampledCounts struct {
	// Exclusive are misses of samples without another candidate. Shared are the parts
	// of others, by how likely each candidate is.
	Exclusive float64 `json:"exclusive"`
	Shared    float64 `json:"shared"`
	// ExclusiveSamples and SharedSamples are the numbers of such samples.
	ExclusiveSamples int64 `json:"exclusive_samples"`
	SharedSamples    int64 `json:"shared_samples"`
	// Confidence says how well it is known that it is this branch.
	Confidence Confidence `json:"-"`
	// Candidates are branches that it may be instead, the likeliest first, and
	// MoreCandidates the number of those left out.
	Candidates     []RowCandidate `json:"-"`
	MoreCandidates int            `json:"-"`
}

// Alternatives are how many branches it may be instead.
func (b *Branch) Alternatives() int {
	if b.Sampled == nil {
		return 0
	}
	return len(b.Sampled.Candidates) + b.Sampled.MoreCandidates
}

// A RowCandidate is a branch that may be what a row of imprecise samples is of.
type RowCandidate struct {
	Place
	Kind Kind
	// Part is how likely it is this one, on average over the samples of the row.
	Part float64
	// Grouped is set if it is part of the row: it has the same samples.
	Grouped bool
}

// An Amount is how often something happened, estimated from samples or counted.
type Amount struct {
	Value float64
	// CI is the 95 % interval; both ends are Value if it was counted.
	CI [2]float64
	// Samples are what it is estimated from, Effective as many of equal weight would
	// tell as much.
	Samples   int64
	Effective float64
	Counted   bool
}

// A Ratio is misses per branch or per 1000 instructions.
type Ratio struct {
	// Value is nil if no miss was sampled: then CI[1] is an upper bound.
	Value *float64
	// CI is the 95 % interval, nil if both numbers were counted.
	CI *[2]float64
	// Misses and Of are the effective samples of both numbers, 0 if counted. Of counters
	// that were read with samples Misses is the number of these.
	Misses, Of float64
}

// Enough reports whether a ratio of part of a recording is shown: with enough samples,
// or as an upper bound.
func (r *Ratio) Enough() bool {
	return r != nil && (r.Misses >= MinMisses || r.Misses == 0) && (r.Of >= MinExecutions || r.Of == 0)
}
