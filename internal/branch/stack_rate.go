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
		b.Rate.classify(b)
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
	b.Rate.classify(b)
}

// leastHint is the rate of the rarer direction below which there is nothing to tell a
// predictor that has learnt a branch from one that has not.
const leastHint = 0.01

// classify says which classes the rate allows.
func (r *Rate) classify(b *Branch) {
	if b.PTaken == nil {
		return
	}
	hint := min(b.PTaken.Value, 1-b.PTaken.Value)
	if hint < leastHint {
		return
	}
	lo, hi := r.Bounds[0], r.Bounds[1]
	if r.Value != nil {
		lo, hi = *r.Value, *r.Value
	}
	ranks := []Class{Learnt, PartlyLearnt, Random}
	if rank(lo/hint) == 0 && rank(hi/hint) == 2 {
		return // nothing is excluded
	}
	for i := rank(lo / hint); i <= rank(hi/hint); i++ {
		b.Classes = append(b.Classes, ranks[i])
	}
}

func rank(part float64) int {
	switch {
	case part >= 0.8:
		return 2
	case part >= 0.3:
		return 1
	}
	return 0
}

// MinP is the rate of the rarer direction, which a predictor that always says the
// other one has. ok is false if it is not known.
func (b *Branch) MinP() (p float64, ok bool) {
	if b.PTaken == nil {
		return 0, false
	}
	return min(b.PTaken.Value, 1-b.PTaken.Value), true
}
