package branch

import "strings"

// An AdviceID says what to do about a branch.
type AdviceID string

// What can be done.
const (
	IfConvert    AdviceID = "if-convert"   // code without the branch
	LookupTable  AdviceID = "table"        // instead of a chain of branches on a value
	SortData     AdviceID = "sort"         // or partition the data
	Devirtualize AdviceID = "devirtualize" // test for the usual target first
	Dispatch     AdviceID = "dispatch"     // several indirect jumps instead of one
	Layout       AdviceID = "layout"       // keep rare code away
	Unroll       AdviceID = "unroll"       // or fix how often a loop runs
	PairReturns  AdviceID = "returns"      // with calls
	Measure      AdviceID = "measure"      // code without the branch, which may be slower
	Leave        AdviceID = "leave"        // as it is
	Identify     AdviceID = "identify"     // which branch it is, first
)

// Advice is what to do about a branch, and when that is worth it.
type Advice struct {
	ID   AdviceID `json:"id"`
	Text string   `json:"text"`
	// Condition says when it is worth it, and how to check.
	Condition string `json:"condition"`
	// Against says why more was not recommended, or what to mind.
	Against []string `json:"against"`
	// Rate is the end of the interval of the miss rate that was compared with
	// BreakEven: the lower one, of what is to be left alone the upper one; nil if the
	// rate is not known, so that the Condition is open.
	Rate      *float64 `json:"rate"`
	BreakEven float64  `json:"break_even"`
	// RuleOfThumb is set if BreakEven holds for a usual branch and was not estimated for this one.
	RuleOfThumb bool `json:"rule_of_thumb"`
	// Share is what the misses cost, as a part of the [Stake].
	Share float64 `json:"share"`
	Of    Stake   `json:"of"`
	// CodeSeen is set if the code was there to be looked at.
	CodeSeen bool `json:"code_seen"`
}

// A Stake is what the cost of a branch is compared with.
type Stake string

// The stakes, best first.
const (
	OfCycles       Stake = "cycles"
	OfInstructions Stake = "instructions" // the cycles lost by the instructions, cycles being unknown
	OfMisses       Stake = "misses"       // the misses by all misses, instructions being unknown too
)

// UsualBreakEven is the rate of misses from which code without the branch is usually
// faster: 4 cycles more against a miss of 20. It is a rule of thumb.
const UsualBreakEven = 0.20

// String is the advice in one line.
func (a *Advice) String() string {
	s := a.Text
	if a.Condition != "" {
		s += "; " + a.Condition
	}
	if len(a.Against) > 0 {
		s += ". Mind: " + strings.Join(a.Against, "; ")
	}
	return s
}
