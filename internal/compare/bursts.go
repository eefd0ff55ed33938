package compare

import (
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// addBursts finds how much more the samples of each row vary than independent ones, where
// each side is one run with a timeline: a function that runs in bursts has the
// noise of bursts, not of samples. Several runs a side show that noise by themselves.
func (c *Comparison) addBursts(e *Event) {
	if len(c.Base) != 1 || len(c.Head) != 1 || len(c.Base[0].Timeline) == 0 || len(c.Head[0].Timeline) == 0 {
		return
	}
	selfBase, totalBase := burstFactors(c.base, c.rows.base, len(c.rows.rows), e.pair.base[0])
	selfHead, totalHead := burstFactors(c.head, c.rows.head, len(c.rows.rows), e.pair.head[0])
	for i := range c.rows.rows {
		e.costs.self[i].bursts = &[2]float64{selfBase[i], selfHead[i]}
		e.costs.total[i].bursts = &[2]float64{totalBase[i], totalHead[i]}
	}
}

// burstFactors are stats.BlockSumsPhi of each row, by self and by total weight.
func burstFactors(s *side, rowOf []int32, rows, event int) (self, total []float64) {
	r, f := s.runs[0], &s.frames[0]
	samples := 0
	for i := range r.Timeline {
		if int(r.Timeline[i].Event) == event {
			samples++
		}
	}
	type sums struct {
		blocks [stats.PhiBlocks]float64
		run.Sum
	}
	var all sums
	ofSelf, ofTotal := make([]sums, rows), make([]sums, rows)
	seen := make([]int32, rows)
	add := func(to *sums, block int, weight int64) {
		to.blocks[block] += float64(weight)
		to.Weight += weight
		to.WeightSq += float64(weight) * float64(weight)
	}
	n := 0
	for i := range r.Timeline {
		sample := &r.Timeline[i]
		if int(sample.Event) != event {
			continue
		}
		block := n * stats.PhiBlocks / samples
		n++
		add(&all, block, sample.Weight)
		for id := sample.Stack; id != 0; id = r.Stacks.Parent(id) {
			for j, sym := range f.at(r.Stacks.Location(id)) {
				row := rowOf[sym]
				if j == 0 && id == sample.Stack {
					add(&ofSelf[row], block, sample.Weight)
				}
				if seen[row] != int32(n) {
					seen[row] = int32(n)
					add(&ofTotal[row], block, sample.Weight)
				}
			}
		}
	}
	factors := func(of []sums) []float64 {
		list := make([]float64, rows)
		for i := range of {
			x := &of[i]
			if samples < 2*stats.PhiBlocks || x.Weight == 0 {
				list[i] = 1
				continue
			}
			// Residuals: a sample of the row is its weight above the row's share of
			// all weight, any other below.
			share := float64(x.Weight) / float64(all.Weight)
			var residuals [stats.PhiBlocks]float64
			for b := range residuals {
				residuals[b] = x.blocks[b] - share*all.blocks[b]
			}
			independent := (1-share)*(1-share)*x.WeightSq + share*share*(all.WeightSq-x.WeightSq)
			list[i] = stats.BlockSumsPhi(&residuals, independent)
		}
		return list
	}
	return factors(ofSelf), factors(ofTotal)
}
