// Package branches is what recordings say of their branches as it is written, of one recording
// and of two sides: two documents, made once by [New] and [NewDiff], and what draws them as
// text, JSON, listings, pprof profiles and profiles for LLVM.
//
//  1. New takes from a table what its outputs show, NewDiff does from a comparison.
//  2. What only some of them show, as code for a page and the functions at each branch for
//     LLVM, are parts: they compute those that they are asked for.
//  3. Writers read nothing but the document. Rows come in the order of what their misses cost,
//     and text is cut off at the limit.
//  4. What is not known is "-", or bounds; it is never zero.
//  5. Profiles for LLVM put branches at their lines and discriminators, relative to the start
//     of the function ("Text format" in SampleProfReader.h of LLVM).
//
// The JSON forms are documented by branches.schema.json and branches_diff.schema.json.
package branches

import (
	"fmt"
	"io"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/report/text"
	"profdiff/internal/source"
	"profdiff/internal/symbolizer"
)

// Schema is the first field of what branches prints as JSON.
const Schema = "profdiff.branches/v1"

// A Document is what branches says of a recording, and as JSON what it prints. null is
// unknown; intervals are 95 %, or null for what was counted. What has no name in JSON is for
// other outputs.
type Document struct {
	Schema     string  `json:"schema"`
	Tier       Tier    `json:"tier"` // S, A, B, C, D or T
	Input      Input   `json:"input"`
	Events     []Event `json:"events"`
	Prediction Known   `json:"prediction"`
	Unit       string  `json:"unit"` // of executed, taken, not_taken and misses: executions or entries
	FirstIndex int     `json:"first_index"`
	Samples    Account `json:"samples"`
	Entries    Account `json:"entries"`
	Ranges     Ranges  `json:"ranges"`
	MissCost   *Cost   `json:"miss_cost"`
	Totals     Totals  `json:"totals"`
	// Attribution, Functions and Blocks are of samples of single addresses and counters.
	Attribution *Attribution `json:"attribution"`
	Functions   []Function   `json:"functions"`
	Blocks      []Block      `json:"blocks"`
	Branches    []Branch     `json:"branches"`
	Advice      string       `json:"advice"` // on all branches together
	Hidden      int          `json:"hidden"` // branches with too few misses to be listed
	Warnings    []string     `json:"warnings"`

	// All is set if every branch is shown, not only those with enough misses to say anything.
	All bool `json:"-"`
	// Cost is what a miss costs, also if it is not known which branches were mispredicted.
	Cost *Cost `json:"-"`
	// Misses are entries that were mispredicted, in simulations executions.
	Misses int64 `json:"-"`
	// BranchMisses are the misses of all branches, shown or not. Of some of these cycles tell
	// the misses not taken if ByCycles is set, and only the line is known if ByLine is.
	BranchMisses     float64 `json:"-"`
	ByCycles, ByLine bool    `json:"-"`
	// Listing is a function with its branches, a part, and so is Code.
	Listing *Listing `json:"-"`
	Code    []Code   `json:"-"`
}

// Types of package branch that are in JSON as they are there.
type (
	Tier        = branch.Tier
	Event       = branch.Event
	Account     = branch.Account
	Ranges      = branch.Ranges
	Cost        = branch.Cost
	Attribution = branch.Attribution
	Sampled     = branch.SampledCounts
	Counts      = branch.Counts
	Kind        = branch.Kind
	RateMethod  = branch.RateMethod
	Confidence  = branch.Confidence
	Advice      = branch.Advice
)

// Values of these types of which writers say more than their names.
const (
	TierPrecise    = branch.TierPrecise
	TierStacks     = branch.TierStacks
	TierCounters   = branch.TierCounters
	CountsBranches = branch.CountsBranches
	CountsMisses   = branch.CountsMisses
	Conditional    = branch.Conditional
	Indirect       = branch.Indirect
	AllSeen        = branch.AllSeen
	ByCycles       = branch.ByCycles
	ByBounds       = branch.ByBounds
	Counted        = branch.Counted
	Exact          = branch.Exact
	OfLine         = branch.OfLine
	High           = branch.High
	OfCycles       = branch.OfCycles
	OfInstructions = branch.OfInstructions
)

// Counted reports whether a simulator counted all.
func (d *Document) Counted() bool { return d.Tier == branch.TierSimulated }

// Totaled reports whether there are totals alone, which name no branch.
func (d *Document) Totaled() bool { return d.Tier == branch.TierTotals }

// Sampled reports whether the document is of single addresses, counters or totals, not of
// stacks or a simulation.
func (d *Document) Sampled() bool { return d.Attribution != nil || d.Totaled() }

// Scaled reports whether counts are of the whole recording, not entries of stacks.
func (d *Document) Scaled() bool { return d.Unit == executions }

// Units of the counts of branches.
const (
	executions = "executions"
	entries    = "entries"
)

// MinMisses are the misses that it takes to show a branch.
const MinMisses = branch.MinMisses

// A Input is the recording.
type Input struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Tool   string `json:"tool"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu"`
}

// Known says whether the recording tells which branches were mispredicted.
type Known struct {
	Known  bool   `json:"known"`
	Reason string `json:"reason"` // why not
}

// Totals are counts of the whole recording.
type Totals struct {
	MispredictedEntries *int64   `json:"mispredicted_entries"`
	Instructions        *float64 `json:"instructions"`
	Cycles              *float64 `json:"cycles"`
	// PMUs are the totals of samples of single addresses, counters and perf stat.
	PMUs []PMU `json:"pmus"`
}

// A Place is where a branch is, and of which kind it is. In JSON its fields stand beside the
// others of a branch.
type Place struct {
	DSO      string  `json:"dso"`
	BuildID  string  `json:"build_id"`
	Address  string  `json:"address"` // in the symbol table of the DSO, 0x…; "" if only the line is known
	Function string  `json:"function"`
	Offset   *uint64 `json:"offset"` // from the start of the function, in bytes
	File     string  `json:"file"`
	Line     int64   `json:"line"`
	Inlined  []Frame `json:"inlined"` // innermost first, function last
	Kind     Kind    `json:"kind"`    // "" if unknown
}

// ByLine reports whether a place is a line with all branches there.
func (p *Place) ByLine() bool { return p.Address == "" }

// A Branch is a branch.
type Branch struct {
	Place
	Executed   *float64    `json:"executed"`
	Taken      *float64    `json:"taken"`
	NotTaken   *float64    `json:"not_taken"`
	PTaken     *Estimate   `json:"p_taken"`
	MinP       *float64    `json:"min_p"`
	Misses     *float64    `json:"misses"`
	MissesCI   []float64   `json:"misses_ci"`
	MissShare  *float64    `json:"miss_share"`
	Rate       *float64    `json:"rate"` // misses per execution
	RateBounds []float64   `json:"rate_bounds"`
	CI         []float64   `json:"ci"`
	RateMethod RateMethod  `json:"rate_method"` // all, cycles, bounds or counted
	TakenRate  *Estimate   `json:"taken_rate"`  // misses per execution that was taken
	MPKI       *Estimate   `json:"mpki"`
	MissCost   *Cost       `json:"miss_cost"`
	CyclesLost []float64   `json:"cycles_lost"`
	Share      *float64    `json:"share"` // of all cycles, by the centre of the cost
	N          int64       `json:"n"`     // executions that the rates are made from
	NTaken     *int64      `json:"n_taken"`
	NMisses    *int64      `json:"n_misses"`
	Samples    int64       `json:"samples"`
	Entries    EntryCounts `json:"entries"`
	Targets    int         `json:"targets"`
	TopTarget  float64     `json:"top_target_share"`
	Classes    []string    `json:"classes"`
	PMU        string      `json:"pmu"`
	// Confidence is exact: the recording names the branch; line: only its line, with all
	// others there; high, medium or low: it is the likeliest of the candidates.
	Confidence     Confidence  `json:"confidence"`
	Candidates     []Candidate `json:"candidates"`
	MoreCandidates int         `json:"more_candidates"` // that are not listed
	Sampled        *Sampled    `json:"sampled"`
	BreakEven      *float64    `json:"break_even"` // rate of misses from which code without the branch is faster
	Advice         *Advice     `json:"advice"`

	// Enough is set if there are enough misses to say anything, or no misses are known.
	Enough bool `json:"-"`
	// Code is the code of the document that the branch is in, -1 if it is in none.
	Code int `json:"-"`
	// Addr is Address as a number, and Stack what Inlined is made from.
	Addr  uint64             `json:"-"`
	Stack []symbolizer.Frame `json:"-"`
	// Source are the functions at the branch with the lines where they start: a part.
	Source []symbolizer.Frame `json:"-"`
}

// Others are how many branches it may be instead.
func (b *Branch) Others() int { return len(b.Candidates) + b.MoreCandidates }

// A Frame is a function at a branch.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int64  `json:"line"`
}

// A Estimate is a value with its interval.
type Estimate struct {
	Value float64   `json:"value"`
	CI    []float64 `json:"ci"`
}

// Interval is the interval, from the value to itself if that was counted.
func (e *Estimate) Interval() (lo, hi float64) { return interval(e.Value, e.CI) }

func interval(v float64, ci []float64) (lo, hi float64) {
	if ci == nil {
		return v, v
	}
	return ci[0], ci[1]
}

// EntryCounts counts entries of stacks at any index.
type EntryCounts struct {
	Taken        int64  `json:"taken"`
	NotTaken     *int64 `json:"not_taken"`
	Mispredicted *int64 `json:"mispredicted"`
	Predicted    *int64 `json:"predicted"`
}

// A PMU is what one PMU counted in the whole recording. Cores of different
// kinds have PMUs of their own and are never added up.
type PMU struct {
	PMU          string   `json:"pmu"`    // "" if there is one kind of core
	Source       string   `json:"source"` // samples, counters, or the file or tool of the totals
	Misses       *Amount  `json:"misses"`
	Branches     *Amount  `json:"branches"`
	Instructions *Amount  `json:"instructions"`
	Cycles       *Amount  `json:"cycles"`
	Rate         *Ratio   `json:"rate"` // misses per branch
	MPKI         *Ratio   `json:"mpki"`
	Refused      []string `json:"refused"` // why there is no rate or mpki, though both events are there

	RateRefused string `json:"-"`
	MPKIRefused string `json:"-"`
}

// A Amount is how often something happened.
type Amount struct {
	Event   string    `json:"event"` // "" where the totals have it
	Value   float64   `json:"value"`
	CI      []float64 `json:"ci"` // null if it was counted
	Samples int64     `json:"samples"`
	NEff    float64   `json:"n_eff"`
}

// Interval is the interval, from the value to itself if that was counted.
func (a *Amount) Interval() (lo, hi float64) { return interval(a.Value, a.CI) }

// A Ratio is a ratio of two amounts. If no miss was sampled the value is null,
// and the end of the interval an upper bound. The interval is null if both were counted.
type Ratio struct {
	Value *float64  `json:"value"`
	CI    []float64 `json:"ci"`
}

// Text is a ratio with its interval, or its upper bound; "" if it is not known.
func (r *Ratio) Text(format func(float64) string) string {
	switch {
	case r == nil:
		return ""
	case r.Value == nil:
		return "< " + format(r.CI[1])
	case r.CI == nil:
		return format(*r.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", format(*r.Value), format(r.CI[0]), format(r.CI[1]))
}

// A Function is a function that samples are in, or all code of a DSO without
// names.
type Function struct {
	PMU          string           `json:"pmu"`
	DSO          string           `json:"dso"`
	BuildID      string           `json:"build_id"`
	Function     string           `json:"function"`
	File         string           `json:"file"`
	Line         int64            `json:"line"`
	Misses       *Amount          `json:"misses"`
	Branches     *Amount          `json:"branches"`
	Instructions *Amount          `json:"instructions"`
	Cycles       *Amount          `json:"cycles"`
	MissShare    *float64         `json:"miss_share"`
	Rate         *Ratio           `json:"rate"` // misses per branch, of samples in the function
	MPKI         *Ratio           `json:"mpki"`
	CyclesLost   []float64        `json:"cycles_lost"`
	Named        int64            `json:"named"` // samples of misses with branches
	Unnamed      map[string]int64 `json:"unnamed"`

	// Enough is set if there are enough misses to say anything.
	Enough bool `json:"-"`
}

// A Block is a basic block that samples of misses are in, without attribution.
type Block struct {
	PMU      string  `json:"pmu"`
	DSO      string  `json:"dso"`
	BuildID  string  `json:"build_id"`
	Function string  `json:"function"`
	Start    string  `json:"start"` // address in the symbol table
	End      string  `json:"end"`
	Misses   *Amount `json:"misses"`
	Branches *Amount `json:"branches"`
	Rate     *Ratio  `json:"rate"`
}

// A Candidate is another branch that a row may be of.
type Candidate struct {
	Address  string  `json:"address"`
	Kind     Kind    `json:"kind"`
	Function string  `json:"function"`
	Offset   *uint64 `json:"offset"`
	File     string  `json:"file"`
	Line     int64   `json:"line"`
	Part     float64 `json:"part"`    // how likely it is, on average over the samples of the row
	Grouped  bool    `json:"grouped"` // it has the same samples and is part of the row
}

// WriteJSON writes a document as JSON: see branches.schema.json.
func WriteJSON(w io.Writer, d *Document) error { return text.WriteJSON(w, d) }

// A Listing is the code of a function, with what is known of its branches at each
// instruction.
type Listing struct {
	*annotate.Listing
	Insts []Inst
}

// A Inst is an instruction of a listing, with the text of the source line that it starts,
// indented.
type Inst struct {
	annotate.Inst
	Source   string
	Branches []Branch
	Blocks   []Block
}

// A Code is the code of a function with its branches, on both sides.
type Code struct {
	Function, DSO string
	Rows          []CodeRow
}

// A CodeRow is an instruction, on one side or both.
type CodeRow struct {
	Base, Head *CodeInst // nil if the side does not have it
	// File and Line are head's, or base's if head does not have the instruction.
	File   string
	Line   int64
	Source source.Text
}

// A CodeInst is an instruction of a side.
type CodeInst struct {
	Offset int64
	Text   string
	// Branch is a row of the document's branches, or -1.
	Branch int
}
