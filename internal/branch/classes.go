package branch

// leastHint is the rate of the rarer direction below which there is nothing to tell a
// predictor that has learnt a branch from one that has not.
const leastHint = 0.01

// Classify sets the classes that the rate allows.
func (b *Branch) Classify() {
	r := b.Rate
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
