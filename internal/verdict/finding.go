package verdict

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/stats"
)

const (
	// Level is the confidence level of all intervals. 1-Level is the error rate of each
	// claim that is not controlled as part of a family.
	Level = 0.95
	// Margin is the relative change that does not matter, unless the user says what does.
	Margin = 0.02
	// FalseDiscovery is the share of false ones among the discoveries, likewise.
	FalseDiscovery = 0.10
	// Power is the chance of showing a change for which numbers of runs are computed.
	Power = 0.9
	// LeastRuns is the number of runs a side from which a finding is not capped.
	LeastRuns = stats.LeastRuns
)

// A Rule says how much evidence it takes to decide on two sides.
type Rule struct {
	Margin         float64
	FalseDiscovery float64
}

// A Presence says on which sides there is something.
type Presence uint8

// The presences.
const (
	Both Presence = iota
	BaseOnly
	HeadOnly
)

// A Finding is the ratio of head by base of one quantity, and what is said of it.
type Finding struct {
	// Ratio is head over base as the test estimates it, with its 95 % interval. Hi is
	// +Inf where there is no upper bound.
	Ratio  float64
	CI     stats.Interval
	Method stats.Method
	// P is the two-sided p-value of there being no change, Adjusted what is left of it in
	// its family: Holm's if Declared, else Benjamini and Hochberg's q. Both are 1 for
	// what was not tested.
	P, Adjusted float64
	Declared    bool
	Tested      bool
	Verdict     Verdict
	// Lead is set instead of a verdict where there is one run a side. Distance is how far
	// from sampling noise the change is, in standard deviations of a normal distribution, and
	// Few is set if it is told by few samples.
	Lead     Lead
	Distance float64
	Few      bool
	// Capped is set if the design cannot show a cause.
	Capped bool
	// Withheld is set if the verdict was taken back, see [Finding.Withhold].
	Withheld bool
	// RunsNeeded is the number of runs a side, those recorded included, that would
	// probably settle what is inconclusive, 0 if unknown.
	RunsNeeded int
	// Repeated is the interval at the level of the last of the looks that gave the verdict, nil
	// if none did.
	Repeated *stats.Interval
	// Smallest is the smallest relative change that this data could have shown with a
	// chance of 90 %; +Inf if none.
	Smallest float64

	// Presence says which sides have the quantity. If one side lacks it, the verdict on a
	// change has a word of its own: [Removed] or [New].
	Presence Presence
	// Given is a verdict that no test gives, as where the code of the program tells. Its
	// p-value is one of the family all the same.
	Given Verdict

	estimate stats.Estimate
}

// Of is the finding that an estimate makes.
func Of(e *stats.Estimate) Finding {
	return Finding{
		Ratio: e.Ratio, CI: e.CI, Method: e.Method, P: e.P, Adjusted: 1, Capped: e.Capped,
		Verdict: Inconclusive, estimate: *e,
	}
}

// Unknown is the finding where nothing is known but the ratio of the means.
func Unknown(ratio float64) Finding {
	return Finding{Ratio: ratio, CI: stats.Interval{Lo: 0, Hi: math.Inf(1)}, P: 1, Adjusted: 1, Verdict: Inconclusive}
}

// Estimate is what the finding was made of. It has no method if nothing was estimated.
func (f *Finding) Estimate() *stats.Estimate { return &f.estimate }

// WithinNoise reports whether noise alone can explain the change.
func (f *Finding) WithinNoise() bool { return f.CI.Contains(1) }

// Grew reports whether P speaks for a growth rather than for a decrease.
func (f *Finding) Grew() bool { return f.estimate.Above(1) < f.estimate.Below(1) }

// Within reports whether a relative change beyond margin is excluded, by two one-sided
// tests (Schuirmann, 1987) at the level at which the interval lies within the margin.
func (f *Finding) Within(margin float64) bool {
	const alpha = 1 - Level
	return f.estimate.Below(1+margin) <= alpha/2 && f.estimate.Above(1/(1+margin)) <= alpha/2
}

// Declared gives verdicts to a family that the user named.
func (r Rule) Declared(family []*Finding) { r.judge(family, true) }

// Discovered gives verdicts to a family that nobody named. In a small family the rate of
// false discoveries alone would let a change pass whose interval has no change in it.
func (r Rule) Discovered(family []*Finding) { r.judge(family, false) }

func (r Rule) judge(family []*Finding, declared bool) {
	p := make([]float64, len(family))
	for i, f := range family {
		p[i] = f.P
	}
	adjust, bound := stats.BenjaminiHochberg, r.FalseDiscovery
	if declared {
		adjust, bound = stats.Holm, 1-Level
	}
	adjusted := adjust(p)
	found := 0
	for _, q := range adjusted {
		if q <= bound {
			found++
		}
	}
	// The p-value that would just have been enough.
	enough := bound / float64(max(1, len(family)))
	if !declared {
		enough = min(enough*float64(max(1, found)), 1-Level)
	}
	for i, f := range family {
		f.Tested, f.Declared, f.Adjusted = true, declared, adjusted[i]
		f.decide(bound, enough, r.Margin)
	}
}

// decide gives a verdict: adjusted values up to bound, which p-values up to enough have,
// show a change if the interval does too.
func (f *Finding) decide(bound, enough, margin float64) {
	const alpha = 1 - Level
	f.Smallest = f.estimate.SmallestDetectable(enough, Power)
	shown := f.Adjusted <= bound && f.P <= alpha
	switch {
	case f.Given != "":
		f.Verdict = f.Given
	case f.Method.Single():
		// One run a side tells nothing of how runs differ.
		f.Verdict = Inconclusive
		f.lead(shown)
	case shown && f.Presence == BaseOnly:
		f.Verdict = Removed
	case shown && f.Presence == HeadOnly:
		f.Verdict = New
	case f.Within(margin):
		f.Verdict = Unchanged
	case shown && f.Ratio < 1:
		f.Verdict = Improved
	case shown && f.Ratio > 1:
		f.Verdict = Regressed
	default:
		f.Verdict = Inconclusive
		f.RunsNeeded = f.needs(min(enough, alpha)/2, alpha/2, margin)
	}
}

// needs is the number of runs a side that would probably settle what is inconclusive, which they may
// do in two ways: they show the change that is seen, at the level that its family leaves it,
// or exclude one beyond the margin. What takes fewer runs counts. It is 0 if there are
// that many already: then more runs are not what is missing.
func (f *Finding) needs(shown, excluded, margin float64) int {
	seen := math.Abs(math.Log(f.Ratio))
	n := f.estimate.RunsNeeded(seen, shown, Power)
	if room := math.Log1p(margin) - seen; room > 0 {
		n = min(n, f.estimate.RunsNeeded(room, excluded, Power))
	}
	if n <= min(f.estimate.BaseRuns, f.estimate.HeadRuns) {
		return 0
	}
	return n
}

// Withhold takes a verdict back, [Unchanged] too, and a lead: what makes a difference may also
// hide one. A verdict that no test gave stays.
func (f *Finding) Withhold() {
	if f.Lead != NoLead {
		f.Lead, f.Withheld = NoLead, true
	}
	if f.Verdict != Inconclusive && f.Given == "" {
		f.Verdict, f.Withheld = Inconclusive, true
	}
}

// Forbid takes a verdict back that no number of runs could give.
func (f *Finding) Forbid() {
	f.Verdict, f.Withheld, f.RunsNeeded, f.Lead = Inconclusive, true, 0, NoLead
}

// Text is the verdict for a table: its word for what is measured, "?" for none shown, "-" for
// not tested, "withheld" for one that was taken back. A lead is its sign with its distance
// from noise, and "~" is one run a side within noise. Where an interval without 1 stands beside
// none shown, the p-value in the family is given, which decided: "q" of what was found, "p"
// of what was declared.
func (f *Finding) Text(of Measure) string {
	known := f.CI.Lo > 0 || !math.IsInf(f.CI.Hi, 1)
	because := ""
	if f.Verdict == Inconclusive && !f.Method.Single() && !f.Withheld && f.Repeated == nil && known && !f.WithinNoise() {
		because = fmt.Sprintf("q %.2g", f.Adjusted)
		if f.Declared {
			because = fmt.Sprintf("p %.2g", f.Adjusted)
		}
	}
	open := func(runs string) string {
		if runs != "" && because != "" {
			runs += ", "
		}
		return strings.TrimSpace("? " + runs + because)
	}
	switch {
	case !f.Tested:
		return "-"
	case f.Lead != NoLead:
		return fmt.Sprintf("%s %.1fσ", f.Lead.Sign(), f.Distance)
	case f.Withheld && f.Verdict == Inconclusive:
		return "withheld"
	case f.Method.Single() && f.Verdict == Inconclusive && known:
		return "~"
	case f.Verdict != Inconclusive:
		return f.Verdict.Word(of)
	case f.RunsNeeded >= f.Method.Most():
		return open(fmt.Sprintf("%d+ %ss", f.Method.Most(), f.Method.Unit()))
	case f.RunsNeeded > 0:
		return open(fmt.Sprintf("%d %ss", f.RunsNeeded, f.Method.Unit()))
	}
	return open("")
}

// Keep gives a finding the verdict of looks that were planned, and the interval at the level of
// the last. What they left open is open, whatever a single look at all runs would say.
func (f *Finding) Keep(v Verdict, repeated stats.Interval) {
	f.Verdict, f.Repeated = v, &repeated
	if v != Inconclusive {
		f.RunsNeeded = 0
	}
}
