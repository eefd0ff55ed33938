package branch

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
func (f *finisher) probability(b *Branch, m *moments) {
	if b.Kind != Conditional || b.Entries.NotTaken == nil || b.N < MinExecutions {
		return
	}
	if r, ok := m.ratio(takenTotal, takenTotal.plus(idleTotal)); ok {
		e := r.estimate()
		b.PTaken = &e
	}
}

// rate fills in the rate of misses. all is set if misses that ended not taken are seen.
func (f *finisher) rate(b *Branch, s *site, m *moments, all bool) {
	if b.NMisses < MinMisses || b.N < MinExecutions {
		return
	}
	if r, ok := m.ratio(vector{missed: 1}, vector{taken: 1}); ok && m.count[taken] >= MinExecutions {
		e := r.estimate()
		b.TakenRate, b.Noise.TakenRate = &e, r.variance
	}
	num, den := missedTotal, vector{taken: 1, notTaken: 1, entered: 1}
	if b.Entries.NotTaken == nil {
		return
	}
	lo, ok := m.ratio(num, den)
	if !ok {
		return
	}
	if all || b.Kind != Conditional {
		e := lo.estimate()
		b.Noise.Rate = lo.variance
		b.Rate = &Rate{Value: &e.Value, Bounds: [2]float64{e.Value, e.Value}, CI: [2]float64{e.Lo, e.Hi}, Method: AllSeen}
		b.classify()
		return
	}
	hi, _ := m.ratio(num.plus(vector{notTaken: 1}), den)
	l, h := lo.estimate(), hi.estimate()
	b.Rate = &Rate{Bounds: [2]float64{l.Value, h.Value}, CI: [2]float64{l.Lo, h.Hi}, Method: ByBounds}
	if n := s.slow + s.fast; n >= MinExecutions {
		part := float64(s.slow) / float64(n)
		r, _ := m.ratio(num.plus(vector{notTaken: part}), den)
		idle := m.sum[notTaken] / m.total(den)
		// The part that is slow is an estimate of its own, from other paths.
		r.variance += idle * idle * part * (1 - part) / float64(n)
		e := r.estimate()
		b.Noise.Rate = r.variance
		*b.Rate = Rate{Value: &e.Value, Bounds: b.Rate.Bounds, CI: [2]float64{e.Lo, e.Hi}, Method: ByCycles}
	}
	b.classify()
}
