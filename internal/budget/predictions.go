package budget

import (
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// predictedClaim limits what a model says.
func (k *check) predictedClaim(r *Result) error {
	b := r.Budget
	if k.in.Predict == nil {
		force(r, PredictedKind, verdict.Inconclusive, "cycles are not predicted: no model is available")
		return nil
	}
	m := newMatcher(b.Match)
	p, err := k.in.Predict(PredictionRequest{
		Match: func(function, system, dso, file string) bool {
			return m.matchFunction(spellings(function, system)) && (m.dso == "" || dsoMatch(m.dso, dso)) && (m.file == "" || fileMatch(m.file, file))
		},
		Target: b.MCA.Target,
	})
	if err != nil {
		// What cannot be predicted was not checked: it must not look like a pass.
		force(r, PredictedKind, verdict.Inconclusive, "cycles are not predicted: "+err.Error())
		return nil
	}
	c := force(r, PredictedKind, verdict.Pass, "")
	limits := &Claim{}
	k.absoluteLimits(limits, b.MCA.CyclesPerIteration, r.Waiver)
	c.Warn, c.Fail, c.WarnText, c.FailText, c.marks = limits.Warn, limits.Fail, limits.WarnText, limits.FailText, limits.marks
	c.What, c.Unit, c.Head, c.Value = "predicted cycles of "+p.Loop+" ("+p.Model+")", "cycles", p.Cycles, p.Cycles
	lo, hi := p.Lo, p.Hi
	if lo == 0 && hi == 0 {
		lo, hi = p.Cycles, p.Cycles
	}
	c.Range = stats.Interval{Lo: lo, Hi: hi}
	switch {
	case c.Fail != nil && lo > *c.Fail:
		c.Given, c.Reason = verdict.Fail, "more than "+c.FailText+" predicted"
	case c.Fail != nil && hi > *c.Fail:
		c.Given, c.Reason = verdict.Inconclusive, "more than "+c.FailText+" is neither predicted nor excluded"
	case c.Warn != nil && lo > *c.Warn:
		c.Given, c.Reason = verdict.Warn, "more than "+c.WarnText+" predicted"
	}
	return nil
}
