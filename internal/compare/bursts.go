package compare

import (
	"math/bits"
	"slices"

	"profdiff/internal/stats"
)

// addBursts finds how much more the samples of each row vary than independent ones, where
// each side is one run with a timeline: a function that runs in bursts has the
// noise of bursts, not of samples. Several runs a side show that noise by themselves.
func (c *Comparison) addBursts(e *Event) {
	if len(c.Base) != 1 || len(c.Head) != 1 || len(c.Base[0].Timeline) == 0 || len(c.Head[0].Timeline) == 0 {
		return
	}
	var selfBase, totalBase, selfHead, totalHead []float64
	together(
		func() { selfBase, totalBase = burstFactors(c.base, c.rows.base, len(c.rows.rows), e.pair.base[0]) },
		func() { selfHead, totalHead = burstFactors(c.head, c.rows.head, len(c.rows.rows), e.pair.head[0]) },
	)
	for i := range c.rows.rows {
		e.costs.self[i].bursts = &[2]float64{selfBase[i], selfHead[i]}
		e.costs.total[i].bursts = &[2]float64{totalBase[i], totalHead[i]}
	}
}

// burstFactors are stats.BlockSumsPhi of each row, by self and by total weight.
//
// Samples are added up by path, one block of time after the other, and from there by caller: a
// block has samples of few paths, and a set of bits has these in their order.
func burstFactors(s *side, rowOf []int32, rows, event int) (self, total []float64) {
	r, p := s.runs[0], &s.paths[0]
	samples := 0
	for i := range r.Timeline {
		if int(r.Timeline[i].Event) == event {
			samples++
		}
	}
	if samples < 2*stats.PhiBlocks {
		ones := slices.Repeat([]float64{1}, rows)
		return ones, ones
	}
	ofSelf, ofTotal, all := newBlockSums(rows), newBlockSums(rows), newBlockSums(1)
	outer, outermost := make([]bool, p.len()), make(outermost, rows)
	for id := 1; id < p.len(); id++ {
		outer[id] = outermost.is(p, id, rowOf[p.symbol[id]])
	}
	// By path, of one block; squares are of all blocks.
	weights, squares := make([]int64, p.len()), make([]float64, p.len())
	sampled := make([]uint64, p.len()/64+1) // a bit for each path
	addCallers := func(block int) {
		for k := len(sampled) - 1; k >= 0; k-- {
			// A caller may be in the same word, further down.
			for sampled[k] != 0 {
				bit := bits.Len64(sampled[k]) - 1
				sampled[k] &^= 1 << bit
				id := 64*k + bit
				w, caller := weights[id], p.parent[id]
				weights[id] = 0
				if outer[id] {
					ofTotal.add(int(rowOf[p.symbol[id]]), block, w)
				}
				if caller > 0 {
					weights[caller] += w
					sampled[caller/64] |= 1 << (caller % 64)
				}
			}
		}
	}
	n, last := 0, 0
	for i := range r.Timeline {
		sample := &r.Timeline[i]
		if int(sample.Event) != event {
			continue
		}
		block := n * stats.PhiBlocks / samples
		n++
		if block != last {
			addCallers(last)
			last = block
		}
		w := float64(sample.Weight)
		all.add(0, block, sample.Weight)
		all.squares[0] += w * w
		if path := p.of[sample.Stack]; path != 0 {
			ofSelf.add(int(rowOf[p.symbol[path]]), block, sample.Weight)
			weights[path] += sample.Weight
			sampled[path/64] |= 1 << (path % 64)
			squares[path] += w * w
		}
	}
	addCallers(last)
	for id := 1; id < len(squares); id++ {
		ofSelf.squares[rowOf[p.symbol[id]]] += squares[id]
	}
	for id := len(squares) - 1; id > 0; id-- {
		if outer[id] {
			ofTotal.squares[rowOf[p.symbol[id]]] += squares[id]
		}
		squares[p.parent[id]] += squares[id]
	}
	return ofSelf.factors(all), ofTotal.factors(all)
}

// blockSums are the weights of rows by block of time.
type blockSums struct {
	rows    int
	blocks  []float64 // by block and row
	weights []int64   // by row
	squares []float64 // of the weights of samples, by row
}

func newBlockSums(rows int) *blockSums {
	return &blockSums{rows, make([]float64, stats.PhiBlocks*rows), make([]int64, rows), make([]float64, rows)}
}

func (s *blockSums) add(row, block int, weight int64) {
	s.blocks[block*s.rows+row] += float64(weight)
	s.weights[row] += weight
}

// factors are those of the rows, all being the sums of all samples.
func (s *blockSums) factors(all *blockSums) []float64 {
	list := make([]float64, s.rows)
	for i := range list {
		if s.weights[i] == 0 {
			list[i] = 1
			continue
		}
		// Residuals: a sample of the row is its weight above the row's share of
		// all weight, any other below.
		share := float64(s.weights[i]) / float64(all.weights[0])
		var residuals [stats.PhiBlocks]float64
		for b := range residuals {
			residuals[b] = s.blocks[b*s.rows+i] - share*all.blocks[b]
		}
		independent := (1-share)*(1-share)*s.squares[i] + share*share*(all.squares[0]-s.squares[i])
		list[i] = stats.BlockSumsPhi(&residuals, independent)
	}
	return list
}
