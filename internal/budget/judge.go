package budget

import (
	"fmt"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// rule is how much evidence the file asks for.
func (f *File) rule() *verdict.LimitRule {
	r := &verdict.LimitRule{Alpha: float64(*f.Defaults.Alpha), Look: f.look, Last: stats.OnlyLook, Runs: f.Defaults.Require.Runs}
	if f.Defaults.Looks == 2 {
		r.Last = stats.SecondLook
	}
	if f.declared != nil {
		r.Look, r.Last = f.declared.Sequence, f.declared.Sequence
		if f.FirstLook() == 0 {
			r.Runs = verdict.LeastRuns
		}
	}
	return r
}

// judge gives verdicts to all claims, and to the results that they are of.
func (f *File) judge(results []*Result) {
	var limits []*verdict.Limit
	for _, r := range results {
		for _, c := range r.Claims {
			c.RunsBase, c.RunsHead = max(c.RunsBase, 0), max(c.RunsHead, 0)
			c.Runs = c.RunsHead
			if c.Relative() {
				c.Runs = min(c.RunsBase, c.RunsHead)
			}
			c.Blocked = c.blocked != ""
			c.Compared = c.Relative() && c.SamplesBase >= int64(f.Defaults.Require.Samples)
			limits = append(limits, &c.Limit)
			if f.declared != nil {
				f.declared.keep(f, r, c)
			}
		}
	}
	least := func() {
		for _, r := range results {
			for _, c := range r.Claims {
				if c.Least {
					c.invert()
				}
			}
		}
	}
	least()
	f.rule().Judge(limits)
	least()
	for _, r := range results {
		for _, c := range r.Claims {
			f.reason(c)
			for _, m := range c.marks {
				r.mark(m)
			}
		}
		f.combine(r)
	}
}

// reason says what the verdict on a claim rests on.
func (f *File) reason(c *Claim) {
	more := c.more()
	over := more + c.FailText
	switch c.Basis {
	case verdict.NoTest:
		switch {
		case c.Given != "": // whoever gave it said why
		case c.blocked != "":
			c.Reason = c.blocked
		default:
			c.Reason = c.Estimate.Refused
		}
	case verdict.Exceeded:
		c.Reason = over
	case verdict.ExceededByFew:
		c.Reason = fmt.Sprintf("%s, but head has fewer than %d samples", over, f.Defaults.Require.Samples)
	case verdict.ExceededByDesign:
		c.Reason = fmt.Sprintf("%s, but %s can warn only", over, f.capReason(c))
		if c.Stored {
			c.Reason = over + ", but base was stored and not recorded in turn with head: that can warn only"
		}
	case verdict.ExceededByFinding:
		c.Reason = over + ", but it was not declared as it is before the recording, which went on until something else was decided: that can warn only"
	case verdict.Open:
		c.Reason = over + " is neither shown nor excluded"
		if c.Warned {
			c.Reason = fmt.Sprintf("%s%s; %s", more, c.WarnText, c.Reason)
		}
		if c.Method.Single() || c.Runs < f.rule().Runs && c.Capped {
			c.Reason += "; " + f.capReason(c)
		}
	case verdict.WarnExceeded:
		c.Reason = more + c.WarnText
		if c.Fail != nil {
			c.Reason += ", not " + over
		}
	case verdict.WarnOpen:
		c.Reason = fmt.Sprintf("%s%s is neither shown nor excluded", more, c.WarnText)
	case verdict.Collapsed:
		c.marks = append(c.marks, Collapse)
		c.Reason = "suspicious collapse: less than half of the cost is left; was anything measured?"
	}
	if c.WarnLeftOpen {
		c.Notes = append(c.Notes, fmt.Sprintf("%s%s is not excluded", more, c.WarnText))
	}
}

// more are the words in front of a limit for what is beyond it.
func (c *Claim) more() string {
	switch {
	case c.Least && c.Relative():
		return "a change below "
	case c.Least:
		return "less than "
	}
	return "more than "
}

func (f *File) capReason(c *Claim) string {
	n, need := c.RunsHead, max(verdict.LeastRuns, f.rule().Runs)
	if c.Relative() {
		n = min(c.RunsBase, c.RunsHead)
	}
	runs := fmt.Sprintf("%d runs", n)
	if n == 1 {
		runs = "1 run"
	}
	if c.Relative() {
		runs += " a side"
	}
	return fmt.Sprintf("%s of %d required", runs, need)
}

// combine gives a result the verdict of the claim that asks for most.
func (f *File) combine(r *Result) {
	for _, c := range r.Claims {
		if r.Deciding == nil || c.Verdict.Outranks(r.Deciding.Verdict) {
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
	if r.Verdict == verdict.Fail && r.shift != nil && r.Deciding.Relative() && !r.Budget.Strict && !f.Defaults.Strict && !r.failsAbsolutely() {
		if domain := r.shift(); domain != "" {
			r.Verdict, r.Deciding.Verdict = verdict.Warn, verdict.Warn
			r.mark(Shifted)
			r.Reasons = append(r.Reasons, domain)
		}
	}
}

func (r *Result) failsAbsolutely() bool {
	for _, c := range r.Claims {
		if !c.Relative() && c.Verdict == verdict.Fail {
			return true
		}
	}
	return false
}

// outcome sums up the verdicts of all results.
func (f *File) outcome(o *Outcome) {
	worst := verdict.Pass
	blocks := false
	for i := range o.Results {
		r := &o.Results[i]
		v := r.Verdict
		if v == verdict.Inconclusive {
			switch verdict.Verdict(f.Defaults.OnInconclusive) {
			case verdict.Pass:
				v = verdict.Pass
			case verdict.Fail:
				blocks = blocks || r.canFail()
			}
		}
		if v.Outranks(worst) {
			worst = v
		}
	}
	o.Verdict = worst
	o.Blocks = worst == verdict.Inconclusive && blocks
}

// canFail reports whether the budget has a limit that fails.
func (r *Result) canFail() bool {
	b := r.Budget
	return b.Limit != nil && b.Limit.Fail != nil || b.Max != nil && b.Max.Fail != nil || b.Min != nil && b.Min.Fail != nil ||
		b.MCA != nil && b.MCA.CyclesPerIteration.Fail != nil
}
