package stacks

import "profdiff/internal/branch"

// Linear combinations of executions.
var (
	takenTotal = vector{taken: 1, unsaid: 1}
	idleTotal  = vector{notTaken: 1, entered: 1}
	// missedTotal are the misses that are seen.
	missedTotal = vector{missed: 1, enteredMS: 1}
)

func (v vector) plus(o vector) vector {
	for i := range v {
		v[i] += o[i]
	}
	return v
}

// probability fills in how often the branch is taken.
func (f *finisher) probability(b *branch.Branch, m *moments) {
	if b.Kind != branch.Conditional || b.Stacks.NotTaken == nil || b.N < branch.MinExecutions {
		return
	}
	if r, ok := m.ratio(takenTotal, takenTotal.plus(idleTotal)); ok {
		e := r.Estimate()
		b.PTaken = &e
	}
}

// rate fills in the rate of misses. all is set if misses that ended not taken are seen.
func (f *finisher) rate(b *branch.Branch, s *site, m *moments, all bool) {
	if b.NMisses < branch.MinMisses || b.N < branch.MinExecutions {
		return
	}
	if r, ok := m.ratio(vector{missed: 1}, vector{taken: 1}); ok && m.count[taken] >= branch.MinExecutions {
		e := r.Estimate()
		b.Stacks.TakenRate, b.Stacks.Noise.TakenRate = &e, r.Variance
	}
	num, den := missedTotal, vector{taken: 1, notTaken: 1, entered: 1}
	if b.Stacks.NotTaken == nil {
		return
	}
	lo, ok := m.ratio(num, den)
	if !ok {
		return
	}
	if all || b.Kind != branch.Conditional {
		e := lo.Estimate()
		b.Stacks.Noise.Rate = lo.Variance
		b.Rate = &branch.Rate{Value: &e.Value, Bounds: [2]float64{e.Value, e.Value}, CI: [2]float64{e.Lo, e.Hi}, Method: branch.AllSeen}
		b.Classify()
		return
	}
	hi, _ := m.ratio(num.plus(vector{notTaken: 1}), den)
	l, h := lo.Estimate(), hi.Estimate()
	b.Rate = &branch.Rate{Bounds: [2]float64{l.Value, h.Value}, CI: [2]float64{l.Lo, h.Hi}, Method: branch.ByBounds}
	if n := s.slow + s.fast; n >= branch.MinExecutions {
		part := float64(s.slow) / float64(n)
		r, _ := m.ratio(num.plus(vector{notTaken: part}), den)
		idle := m.sum[notTaken] / m.total(den)
		// The part that is slow is an estimate of its own, from other paths.
		r.Variance += idle * idle * part * (1 - part) / float64(n)
		e := r.Estimate()
		b.Stacks.Noise.Rate = r.Variance
		*b.Rate = branch.Rate{Value: &e.Value, Bounds: b.Rate.Bounds, CI: [2]float64{e.Lo, e.Hi}, Method: branch.ByCycles}
	}
	b.Classify()
}
