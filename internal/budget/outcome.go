package budget

import (
	"fmt"
	"math"
	"slices"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// A Mark is a circumstance of a result.
type Mark string

// The marks.
const (
	Waived   Mark = "waived"   // a waiver raises the limit
	New      Mark = "new"      // base does not have it
	Gone     Mark = "gone"     // head does not have it
	Missing  Mark = "missing"  // neither side has it
	Shifted  Mark = "shifted"  // cost moved within a file or below a caller
	Collapse Mark = "collapse" // less than half of the cost is left
	Stale    Mark = "stale"    // passed far below its limit for long
)

// An Outcome is what a budget file says of two sides.
type Outcome struct {
	// Verdict is the verdict on the build: fail if any budget does, else inconclusive if
	// any is and OnInconclusive is not pass, else warn if any does, else pass.
	Verdict verdict.Verdict
	// Blocks is set if the outcome is Inconclusive and the file says that it blocks.
	Blocks bool
	// File is the budget file, and Alpha the chance of any wrong fail.
	File  string
	Alpha float64
	// Look is which of two planned looks it is.
	Look stats.Look
	// Tests is the number of hypotheses of the family.
	Tests       int
	Results     []Result
	Discoveries []Discovery
	Design      Design
	// Comparison compares the sides. Limits relative to base were checked with it. It is
	// nil if the sides were not compared.
	Comparison *compare.Comparison
	Notes      []string
}

// Fails reports whether a budget fails, or if strict one warns that is not waived.
func (o *Outcome) Fails(strict bool) bool {
	return o.Verdict == verdict.Fail || strict && slices.ContainsFunc(o.Results, func(r Result) bool {
		return r.Verdict == verdict.Warn && !r.Has(Waived) || slices.ContainsFunc(r.Claims, func(c *Claim) bool { return c.Warned })
	})
}

// Design says how the sides were recorded and compared.
type Design struct {
	verdict.Turns
	// RunsBase and RunsHead are numbers of devices if Devices is set.
	RunsBase, RunsHead int
	Devices            bool
	// Normalization says what costs of the default event were divided by, "" without
	// base.
	Normalization string
	Warnings      []string
	Base, Head    []*run.Run
}

// A Discovery is a function without a budget that costs more.
type Discovery struct {
	Name, DSO, Event string
	Ratio            float64
	CI               stats.Interval
	Q                float64
}

// A Result is the answer to one budget.
type Result struct {
	ID      string
	Verdict verdict.Verdict
	Marks   []Mark
	// Reasons say why, in the order of the claims.
	Reasons []string
	Notes   []string
	// Claims are the limits of the budget, of which Deciding has the verdict; it is nil if
	// nothing could be measured.
	Claims   []*Claim
	Deciding *Claim
	Owner    string
	Waiver   *Waiver
	// Functions are the functions that were counted, the heaviest first; Location is
	// where the heaviest is.
	Functions []string
	Location  Location
	// Position is the place of the budget in the budget file, or in File if that is not "".
	Position yaml.Position
	File     string
	Budget   *Budget

	shift func() string
}

// Has reports whether the result has a mark.
func (r *Result) Has(m Mark) bool {
	return slices.Contains(r.Marks, m)
}

func (r *Result) mark(m Mark) {
	if !r.Has(m) {
		r.Marks = append(r.Marks, m)
	}
}

// A Location is where a function starts in the source.
type Location struct {
	Function, DSO, File string
	Line                int64 // 0 if unknown
}

// A Kind says what a claim limits.
type Kind string

// The kinds.
const (
	RelativeKind  Kind = "limit"     // head over base
	AbsoluteKind  Kind = "max"       // head alone
	LeastKind     Kind = "min"       // head alone, which may not be less
	PredictedKind Kind = "predicted" // what a model says of head
)

// A Claim is one limit of a budget, with what the runs say: Value is a ratio, or an absolute
// value.
type Claim struct {
	verdict.Limit
	Kind Kind
	// What is limited, for people: "cpu-cycles per frames", "p95 of frame_ms".
	What string
	// Least is set if less than the limit is what fails, as where higher values are better.
	Least bool
	// Unit of Base, Head and of an absolute Value: nanoseconds, percent, samples, that of a metric,
	// or the event; "" for plain numbers.
	Unit string
	// Base and Head are means over the runs of a side, NaN if there are none.
	Base, Head float64
	// WarnText and FailText are the limits as the file has them.
	WarnText, FailText       string
	RunsBase, RunsHead       int
	SamplesBase, SamplesHead int64
	Reason                   string
	Notes                    []string

	// blocked says why nothing is proven, "" if nothing is in the way.
	blocked string
	marks   []Mark
}

// Relative reports whether Value is a ratio.
func (c *Claim) Relative() bool { return c.Kind == RelativeKind }

// invert makes more of what is less, and takes that back: the rule knows limits that are exceeded.
func (c *Claim) invert() {
	for _, v := range []*float64{c.Warn, c.Fail} {
		if v != nil {
			*v = 1 / *v
		}
	}
	if c.Estimate != nil {
		e := c.Estimate.Inverse()
		c.Estimate = &e
	}
	c.Value, c.Smallest = 1/c.Value, 1/c.Smallest
	c.Range = stats.Interval{Lo: 1 / c.Range.Hi, Hi: 1 / c.Range.Lo}
	c.Levels[0], c.Levels[1] = c.Levels[1], c.Levels[0]
}

// headroom is what is left of the limit, 0 to 1: of a limit relative to base the part of
// the change that the interval leaves, of an absolute one the part of the value.
func (r *Result) headroom() float64 {
	c := r.Deciding
	if c != nil && c.Fail != nil && c.Least {
		left := 1 - *c.Fail/c.Range.Lo
		if c.Relative() {
			left = (c.Range.Lo - *c.Fail) / (1 - *c.Fail)
		}
		if !(left >= 0) { // also without a lower end
			return 0
		}
		return min(left, 1)
	}
	if c == nil || c.Fail == nil || math.IsNaN(c.Range.Hi) || math.IsInf(c.Range.Hi, 0) {
		return 0
	}
	left := 1 - c.Range.Hi / *c.Fail
	if c.Relative() {
		if *c.Fail <= 1 {
			return 0
		}
		left = (*c.Fail - c.Range.Hi) / (*c.Fail - 1)
	}
	return min(max(left, 0), 1)
}

// setStale marks a budget that passed with much headroom in the last checks.
func (r *Result) setStale(checks int) {
	r.mark(Stale)
	r.Notes = append(r.Notes, fmt.Sprintf("passed with more than half of its limit left in %d checks: tighten?", checks))
}
