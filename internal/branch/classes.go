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
	most := hint
	if r.Method == Counted { // else the interval is noise, not what nothing was written of
		at := [2]float64{b.PTaken.Lo, b.PTaken.Hi}
		hint = min(at[0], 1-at[1])
		if most = min(at[1], 1-at[0]); at[0] <= 0.5 && at[1] >= 0.5 {
			most = 0.5
		}
	}
	if hint < leastHint {
		return
	}
	lo, hi := r.Bounds[0], r.Bounds[1]
	if r.Value != nil {
		lo, hi = *r.Value, *r.Value
	}
	ranks := []Class{Learnt, PartlyLearnt, Random}
	if rank(lo/most) == 0 && rank(hi/hint) == 2 {
		return // nothing is excluded
	}
	for i := rank(lo / most); i <= rank(hi/hint); i++ {
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
