package core

import "math/bits"

// horizon is how many cycles lie between what is dispatched and what is issued, as far as
// units are kept for what comes later. A power of two.
const horizon = 1 << 13

// ports are units of which several can be used in a cycle.
type ports struct {
	width uint8
	used  []slot
}

// A slot is how often a unit is used in a cycle.
type slot struct {
	cycle int32
	n     uint8
}

func newPorts(width int) ports {
	return ports{width: uint8(min(width, 255)), used: make([]slot, horizon)}
}

// issue uses a unit in the first cycle in which one is free.
func (p *ports) issue(at float64) float64 {
	for c := ceil(at); ; c++ {
		s := &p.used[c&(horizon-1)]
		if s.cycle != c {
			*s = slot{cycle: c}
		}
		if s.n < p.width {
			s.n++
			return float64(c)
		}
	}
}

func ceil(at float64) int32 {
	c := int32(at)
	if float64(c) < at {
		c++
	}
	return c
}

// pipes are units for each of which operations are queued.
type pipes struct {
	*Core
	used    [][]int32 // cycle that a slot is taken in
	waiting []times   // when what is queued will be issued
	next    uint32
}

func newPipes(c *Core) pipes {
	p := pipes{Core: c, used: make([][]int32, len(c.Pipes)), waiting: make([]times, len(c.Pipes))}
	for i := range p.used {
		p.used[i] = make([]int32, horizon)
	}
	return p
}

// issue issues an operation of so many slots to one of some pipes. Schedulers bind an
// operation to a pipe when it is dispatched, before it is known when its operands are
// ready: to that for which the fewest wait, or where all pipes will do to the best of a
// few taken at random.
func (p *pipes) issue(which uint32, dispatched, at float64, slots int) float64 {
	first := p.one(which, dispatched, ceil(at))
	for range slots - 1 {
		p.one(which, dispatched, ceil(at))
	}
	return float64(first)
}

func (p *pipes) one(which uint32, dispatched float64, at int32) int32 {
	if p.Choices > 0 {
		return p.random(which, at)
	}
	pipe := -1
	for _, i := range p.order {
		if which>>i&1 == 0 {
			continue
		}
		w := &p.waiting[i]
		for len(*w) > 0 && (*w)[0] <= dispatched {
			w.pop()
		}
		if pipe < 0 || len(*w) < len(p.waiting[pipe]) {
			pipe = i
		}
	}
	c := at
	for p.used[pipe][c&(horizon-1)] == c {
		c++
	}
	p.used[pipe][c&(horizon-1)] = c
	p.waiting[pipe].push(float64(c))
	return c
}

func (p *pipes) random(which uint32, at int32) int32 {
	best, pipe := int32(-1), 0
	n := len(p.used)
	few := bits.OnesCount32(which) == n
	choices := n
	if few {
		choices = p.Choices
	}
	for i := range choices {
		if few {
			p.next = p.next*1664525 + 1013904223
			hi, _ := bits.Mul32(p.next, uint32(n))
			i = int(hi)
		} else if which>>i&1 == 0 {
			continue
		}
		c := at
		for p.used[i][c&(horizon-1)] == c {
			c++
		}
		if best < 0 || c < best {
			best, pipe = c, i
		}
	}
	p.used[pipe][best&(horizon-1)] = best
	return best
}

// times is a heap of cycles, the first at the top.
type times []float64

func (t *times) push(v float64) {
	h := append(*t, v)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up] <= v {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = v
	*t = h
}

func (t *times) pop() float64 {
	h := *t
	top := h[0]
	n := len(h) - 1
	v := h[n]
	h = h[:n]
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && h[down+1] < h[down] {
			down++
		}
		if h[down] >= v {
			break
		}
		h[i] = h[down]
		i = down
	}
	if n > 0 {
		h[i] = v
	}
	*t = h
	return top
}
