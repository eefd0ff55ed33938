package run

import "slices"

// Callees are the stacks of a run as a tree that can be walked from callers to callees. The
// zero value is ready for Reset.
type Callees struct {
	s *Stacks
	// The callees of a stack are a list: first[id], then next of each.
	first, next []StackID
}

// Reset makes them those of s. What an earlier, larger tree took is used again.
func (c *Callees) Reset(s *Stacks) {
	n := s.Len()
	c.s = s
	c.first, c.next = slices.Grow(c.first[:0], n)[:n], slices.Grow(c.next[:0], n)[:n]
	clear(c.first)
	for id := StackID(n - 1); id > 0; id-- {
		parent := s.Parent(id)
		c.next[id], c.first[parent] = c.first[parent], id
	}
}

// Walk visits all stacks but the empty one, callers before callees, and takes the time of one
// step for each: what many samples have on their stacks is visited once. enter says whether
// to go on with the callees; if so, leave is called behind them.
func (c *Callees) Walk(enter func(StackID) bool, leave func(StackID)) {
	id := c.first[0]
	for id != 0 {
		if enter(id) {
			if child := c.first[id]; child != 0 {
				id = child
				continue
			}
			leave(id)
		}
		for c.next[id] == 0 {
			if id = c.s.Parent(id); id == 0 {
				return
			}
			leave(id)
		}
		id = c.next[id]
	}
}
