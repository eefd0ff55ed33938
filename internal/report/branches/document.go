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

// A Tier says what a recording can tell.
type Tier = branch.Tier

// Tiers of which the writers say more.
const (
	TierPrecise  = branch.TierPrecise
	TierStacks   = branch.TierStacks
	TierCounters = branch.TierCounters
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

// A Event is an event of the recording.
type Event struct {
	Name    string  `json:"name"`
	Counts  Counts  `json:"counts"`
	Samples int64   `json:"samples"`
	Weight  float64 `json:"weight"`
	Period  uint64  `json:"period"` // 0 if it varies
	Precise bool    `json:"precise"`
	// Unplaced is what a simulation counted at no place, beside the weight.
	Unplaced float64 `json:"unplaced"`
	Rates    bool    `json:"rates"` // are made from the stacks of this event
}

// Counts says what an event counts.
type Counts = branch.Counts

// Events of branches.
const (
	CountsBranches = branch.CountsBranches
	CountsMisses   = branch.CountsMisses
)

// Known says whether the recording tells which branches were mispredicted.
type Known struct {
	Known  bool   `json:"known"`
	Reason string `json:"reason"` // why not
}

// A Account is in = used + the sum of dropped.
type Account struct {
	In      int64            `json:"in"`
	Used    int64            `json:"used"`
	Dropped map[string]int64 `json:"dropped"`
	Lost    int64            `json:"lost"`
}

// Ranges counts stretches of code between two branches.
type Ranges struct {
	Decoded int64 `json:"decoded"`
	Broken  int64 `json:"broken"`
	NoCode  int64 `json:"no_code"`
}

// A Cost is how many cycles a miss costs.
type Cost struct {
	Lo       float64 `json:"lo"`
	Centre   float64 `json:"centre"`
	Hi       float64 `json:"hi"`
	Measured bool    `json:"measured"`
	Source   string  `json:"source"`
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

// A Kind says what a branch is.
type Kind = branch.Kind

// Kinds that LLVM has profiles of.
const (
	Conditional = branch.Conditional
	Indirect    = branch.Indirect
)

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

// A RateMethod says how the rate of misses was found, and a Confidence how well it is known
// which branch a row is of.
type (
	RateMethod = branch.RateMethod
	Confidence = branch.Confidence
)

// Methods and confidences.
const (
	AllSeen  = branch.AllSeen
	ByCycles = branch.ByCycles
	ByBounds = branch.ByBounds
	Counted  = branch.Counted
	Exact    = branch.Exact
	OfLine   = branch.OfLine
	High     = branch.High
)

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

// A Attribution says for how many samples of misses branches are named:
// in = named + the sum of unnamed + unmapped.
type Attribution struct {
	In       int64            `json:"in"`
	Named    int64            `json:"named"`
	Exact    int64            `json:"exact"`   // of those named, samples that are at the branch
	Unnamed  map[string]int64 `json:"unnamed"` // by reason
	Unmapped int64            `json:"unmapped"`
	Skid     []float64        `json:"skid"` // part of samples that are 0, 1, … instructions behind the branch; null if there are no candidates
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

// A Sampled counts the samples that a row of imprecise samples is made from.
type Sampled struct {
	Exclusive        float64 `json:"exclusive"` // misses of samples without another candidate
	Shared           float64 `json:"shared"`    // parts of the samples of others, by how likely each candidate is
	ExclusiveSamples int64   `json:"exclusive_samples"`
	SharedSamples    int64   `json:"shared_samples"`
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

// A Advice is what to do about a branch.
type Advice struct {
	ID          string   `json:"id"` // if-convert, table, sort, devirtualize, dispatch, layout, unroll, returns, leave or identify
	Text        string   `json:"text"`
	Condition   string   `json:"condition"` // when it is worth it
	Against     []string `json:"against"`   // what to mind
	Rate        *float64 `json:"rate"`      // the end of the interval that was compared with, null if unknown
	BreakEven   float64  `json:"break_even"`
	RuleOfThumb bool     `json:"rule_of_thumb"` // break_even is a rule of thumb for any branch
	Share       float64  `json:"share"`         // what the misses cost
	Of          Stake    `json:"of"`            // as a part of the cycles, the instructions or the misses
	CodeSeen    bool     `json:"code_seen"`
}

// A Stake is what the cost of a branch is compared with.
type Stake = branch.Stake

// The stakes beside the misses.
const (
	OfCycles       = branch.OfCycles
	OfInstructions = branch.OfInstructions
)

// WriteJSON writes a document as JSON: see branches.schema.json.
func WriteJSON(w io.Writer, d *Document) error { return text.WriteJSON(w, d) }

// A Listing is the code of a function with what is known of its branches.
type Listing struct {
	Function, DSO, BuildID string
	Start, End             uint64
	// Incomplete says why blocks may be missing, "" if they are not.
	Incomplete string
	Insts      []Inst
	// Elsewhere are the addresses of branches that are at no instruction.
	Elsewhere []uint64
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
	Source string
}

// A CodeInst is an instruction of a side.
type CodeInst struct {
	Offset int64
	Text   string
	// Branch is a row of the document's branches, or -1.
	Branch int
}
