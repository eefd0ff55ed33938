package compare

import (
	"math"

	"profdiff/internal/run"
)

// A cost is what one thing costs in each run of both sides. A run that does not know
// it has a zero.
type cost struct {
	base, head []run.Sum
	// bursts, if set, are the factors by which samples vary more than independent
	// ones, of base and head: see burstFactors.
	bursts *[2]float64
}

func newCost(runsBase, runsHead int) cost {
	sums := make([]run.Sum, runsBase+runsHead)
	return cost{base: sums[:runsBase:runsBase], head: sums[runsBase:]}
}

// samples are the numbers of samples of both sides. They saturate: of folded stacks
// they are the weights.
func (c *cost) samples() (base, head int64) {
	add := func(sums []run.Sum) (n int64) {
		for i := range sums {
			if c := sums[i].Count; n > 0 && c > math.MaxInt64-n {
				n = math.MaxInt64
			} else {
				n += c
			}
		}
		return n
	}
	return add(c.base), add(c.head)
}

// weights sums up each side, as recorded.
func (c *cost) weights() (base, head float64) {
	for i := range c.base {
		base += float64(c.base[i].Weight)
	}
	for i := range c.head {
		head += float64(c.head[i].Weight)
	}
	return base, head
}

func (c *cost) zero() bool {
	for _, side := range [][]run.Sum{c.base, c.head} {
		for i := range side {
			if side[i].Weight != 0 || side[i].Count != 0 {
				return false
			}
		}
	}
	return true
}

// add adds the costs of d.
func (c *cost) add(d *cost) {
	for i := range c.base {
		c.base[i].Add(&d.base[i])
	}
	for i := range c.head {
		c.head[i].Add(&d.head[i])
	}
}

// costs are the costs of all rows in one event.
type costs struct {
	whole       cost
	self, total []cost // by row
}

// rowCosts sums one event by rows, in rooms.
func rowCosts(base, head *side, rows *rowset, p *eventPair, in rooms) *costs {
	c := &costs{whole: newCost(len(base.runs), len(head.runs))}
	n := len(base.runs) + len(head.runs)
	sums := make([]run.Sum, 2*len(rows.rows)*n)
	list := make([]cost, 2*len(rows.rows))
	for i := range list {
		list[i] = cost{base: sums[:len(base.runs):len(base.runs)], head: sums[len(base.runs):n:n]}
		sums = sums[n:]
	}
	c.self, c.total = list[:len(rows.rows)], list[len(rows.rows):]
	sum := func(s *side, rowOf []int32, events []int, room spent, of func(*cost) []run.Sum) {
		outer := make(outermost, len(rows.rows))
		for i, r := range s.runs {
			p := &s.paths[i]
			spent := room.of(r, p, events[i])
			// The samples without a stack.
			of(&c.total[rowOf[0]])[i].Add(&spent[0])
			for id := range spent {
				of(&c.self[rowOf[p.symbol[id]]])[i].Add(&spent[id])
			}
			spent.addUp(p)
			of(&c.whole)[i] = spent[0]
			outer.reset()
			for id := 1; id < p.len(); id++ {
				if row := rowOf[p.symbol[id]]; spent.has(id) && outer.is(p, id, row) {
					of(&c.total[row])[i].Add(&spent[id])
				}
			}
		}
	}
	in.each(
		func() { sum(base, rows.base, p.base, in.base, func(c *cost) []run.Sum { return c.base }) },
		func() { sum(head, rows.head, p.head, in.head, func(c *cost) []run.Sum { return c.head }) },
	)
	return c
}
