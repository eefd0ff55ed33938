package budget

import (
	"fmt"
	"math"

	"profdiff/internal/stats"
)

// power is the chance of proving for which numbers of runs are computed.
const power = 0.9

// level is the confidence level of intervals.
const level = 0.95

// judge gives verdicts to all claims, and to the results that they are of. Each family is
// one of one-sided hypotheses "no more than the limit": that of failures over the whole
// file, and another of warnings. A pass is not corrected: it is a claim of its own.
func (f *File) judge(results []*Result) {
	var failures, warnings []*Claim
	for _, r := range results {
		for _, c := range r.Claims {
			c.P, c.Holm = 1, 1
			c.RunsBase, c.RunsHead = max(c.RunsBase, 0), max(c.RunsHead, 0)
			if c.forced != "" || c.exact {
				continue
			}
			if c.Fail != nil {
				failures = append(failures, c)
			}
			if c.Warn != nil {
				warnings = append(warnings, c)
			}
		}
	}
	p := make([]float64, len(failures))
	for i, c := range failures {
		c.P = c.est.Above(*c.Fail)
		p[i] = f.look.Overall(c.P)
	}
	for i, adjusted := range stats.Holm(p) {
		failures[i].Holm = adjusted
	}
	p = make([]float64, len(warnings))
	for i, c := range warnings {
		p[i] = f.look.Overall(c.est.Above(*c.Warn))
	}
	warned := make(map[*Claim]bool)
	for i, adjusted := range stats.Holm(p) {
		warned[warnings[i]] = adjusted <= f.alpha()
	}
	levels := f.levels(len(failures))
	for _, r := range results {
		for _, c := range r.Claims {
			f.decide(c, levels, warned[c])
			for _, m := range c.marks {
				r.mark(m)
			}
		}
		f.combine(r)
	}
}

func (f *File) alpha() float64 { return float64(*f.Defaults.Alpha) }

// lastLook is the look after which no other follows.
func (f *File) lastLook() stats.Look {
	if f.Defaults.Looks == 2 {
		return stats.SecondLook
	}
	return stats.OnlyLook
}

// levels are how small the p of a claim has to be.
type levels struct {
	fail              float64 // at this look, for the least of a family
	lastFail, lastOne float64 // at the last look, for the least of a family and for one alone
}

func (f *File) levels(family int) *levels {
	corrected := f.alpha() / float64(max(family, 1))
	return &levels{f.look.Level(corrected), f.lastLook().Level(corrected), f.lastLook().Level(f.alpha())}
}

// decide gives a verdict to a claim.
func (f *File) decide(c *Claim, l *levels, warned bool) {
	if c.forced != "" {
		c.Verdict = c.forced
		return
	}
	if c.est != nil {
		c.Value, c.CI, c.Method = c.est.Ratio, c.est.CI, c.est.Method
	}
	f.shows(c, l)
	defer func() {
		if c.Verdict == Inconclusive && c.blocked == "" && c.est.Refused == "" && !c.fewSamples {
			c.RunsNeeded = f.needs(c, l)
		}
	}()
	switch {
	case c.blocked != "":
		c.Verdict, c.Reason = Inconclusive, c.blocked
		return
	case c.est.Refused != "":
		c.Verdict, c.Reason = Inconclusive, c.est.Refused
		return
	}
	alpha := f.alpha()
	proven := c.Fail != nil && (c.Holm <= alpha || c.exact && c.est.Above(*c.Fail) == 0)
	if c.exact {
		warned = c.Warn != nil && c.est.Above(*c.Warn) == 0
	}
	pass := c.est
	if c.pass != nil {
		pass = c.pass
	}
	// One run tells nothing of how runs differ.
	silent := c.Method == stats.Sampling || c.Method == stats.SamplingExact
	excluded := func(limit float64) bool {
		if c.exact {
			return pass.Above(limit) != 0
		}
		return !silent && f.look.Overall(pass.Below(limit)) <= alpha
	}
	over := c.FailText
	switch {
	case proven && c.fewSamples:
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("more than %s, but head has fewer than %d samples", over, f.Defaults.Require.Samples)
	case proven && c.Capped:
		c.Verdict = Warn
		c.Reason = fmt.Sprintf("more than %s, but %s can warn only", over, f.capReason(c))
		if c.stored {
			c.Reason = fmt.Sprintf("more than %s, but base was stored and not recorded in turn with head: that can warn only", over)
		}
	case proven:
		c.Verdict = Fail
		c.Reason = "more than " + over
	case c.Fail != nil && !excluded(*c.Fail):
		c.Verdict = Inconclusive
		c.Warned = warned
		c.Reason = fmt.Sprintf("more than %s is neither shown nor excluded", over)
		if warned {
			c.Reason = fmt.Sprintf("more than %s; %s", c.WarnText, c.Reason)
		}
		if silent || c.runs() < f.Defaults.Require.Runs && c.Capped {
			c.Reason += "; " + f.capReason(c)
		}
	case warned:
		c.Verdict, c.Reason = Warn, "more than "+c.WarnText
		if c.Fail != nil {
			c.Reason += fmt.Sprintf(", not more than %s", over)
		}
	case c.Fail == nil && !excluded(*c.Warn):
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("more than %s is neither shown nor excluded", c.WarnText)
	default:
		c.Verdict = Pass
		if c.Warn != nil && c.Fail != nil && !excluded(*c.Warn) {
			c.Notes = append(c.Notes, fmt.Sprintf("more than %s is not excluded", c.WarnText))
		}
	}
	if c.Relative() && c.Verdict == Pass && c.SamplesBase >= int64(f.Defaults.Require.Samples) && f.look.Overall(c.est.Below(0.5)) <= alpha {
		c.Verdict = Warn
		c.marks = append(c.marks, Collapse)
		c.Reason = "suspicious collapse: less than half of the cost is left; was anything measured?"
	}
}

// runs is the number of runs of the smaller side that counts.
func (c *Claim) runs() int {
	if c.Relative() {
		return min(c.RunsBase, c.RunsHead)
	}
	return c.RunsHead
}

func (f *File) capReason(c *Claim) string {
	n, need := c.runs(), max(leastRuns, f.Defaults.Require.Runs)
	runs := fmt.Sprintf("%d runs", n)
	if n == 1 {
		runs = "1 run"
	}
	if c.Relative() {
		runs += " a side"
	}
	return fmt.Sprintf("%s of %d required", runs, need)
}

// shows computes what could have been shown.
func (f *File) shows(c *Claim, l *levels) {
	c.Smallest = math.Inf(1)
	if c.est == nil {
		return
	}
	c.Capped = c.stored || !c.exact && (c.est.Capped || c.runs() < f.Defaults.Require.Runs)
	if c.exact {
		c.Smallest = *c.limit()
		return
	}
	c.Smallest = *c.limit() * (1 + c.est.SmallestDetectable(2*l.fail, power))
}

// limit is the one that decides.
func (c *Claim) limit() *float64 {
	if c.Fail != nil {
		return c.Fail
	}
	return c.Warn
}

// needs is the number of runs a side that would probably settle what is inconclusive, 0 if
// unknown.
func (f *File) needs(c *Claim, l *levels) int {
	if c.exact || !(c.Value > 0) || math.IsInf(c.Value, 0) {
		return 0
	}
	alpha := l.lastOne
	if c.Value > *c.limit() {
		alpha = l.lastFail
	}
	n := c.est.RunsNeeded(math.Log(c.Value / *c.limit()), alpha, power)
	if n == 0 {
		return 0
	}
	// As many as there are did not settle it: then it is not their number.
	if n = max(n, f.Defaults.Require.Runs); n <= c.runs() {
		return 0
	}
	return n
}

// combine gives a result the verdict of the claim that asks for most.
func (f *File) combine(r *Result) {
	for _, c := range r.Claims {
		if r.Deciding == nil || c.Verdict.rank() > r.Deciding.Verdict.rank() {
			r.Deciding = c
		}
	}
	for _, c := range r.Claims {
		r.Notes = append(r.Notes, c.Notes...)
	}
	if r.Deciding == nil {
		return
	}
	r.Verdict = r.Deciding.Verdict
	if r.Deciding.Reason != "" {
		r.Reasons = append(r.Reasons, r.Deciding.Reason)
	}
	if r.Verdict == Fail && r.shift != nil && r.Deciding.Relative() && !r.Budget.Strict && !f.Defaults.Strict && !r.failsAbsolutely() {
		if domain := r.shift(); domain != "" {
			r.Verdict, r.Deciding.Verdict = Warn, Warn
			r.mark(Shifted)
			r.Reasons = append(r.Reasons, domain)
		}
	}
}

func (r *Result) failsAbsolutely() bool {
	for _, c := range r.Claims {
		if !c.Relative() && c.Verdict == Fail {
			return true
		}
	}
	return false
}

// outcome sums up the verdicts of all results.
func (f *File) outcome(o *Outcome) {
	worst := Pass
	blocks := false
	for i := range o.Results {
		r := &o.Results[i]
		v := r.Verdict
		if v == Inconclusive {
			switch f.Defaults.OnInconclusive {
			case "pass":
				v = Pass
			case "fail":
				blocks = blocks || r.canFail()
			}
		}
		if v.rank() > worst.rank() {
			worst = v
		}
	}
	o.Verdict = worst
	o.Blocks = worst == Inconclusive && blocks
}

// canFail reports whether the budget has a limit that fails.
func (r *Result) canFail() bool {
	b := r.Budget
	return b.Limit != nil && b.Limit.Fail != nil || b.Max != nil && b.Max.Fail != nil ||
		b.MCA != nil && b.MCA.CyclesPerIteration.Fail != nil
}
