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
	used [][]int32 // cycle that a slot is taken in
	next uint32
}

func newPipes(n int) pipes {
	p := pipes{used: make([][]int32, n)}
	for i := range p.used {
		p.used[i] = make([]int32, horizon)
	}
	return p
}

// issue issues an operation of so many slots to one of the first pipes. Schedulers bind
// an operation to a pipe when it is dispatched, before it is known when its operands are
// ready: where all pipes will do it gets the better one of two. What only some pipes do
// they get right.
func (p *pipes) issue(width int, at float64, slots int) float64 {
	first := p.one(width, ceil(at))
	for range slots - 1 {
		p.one(width, ceil(at))
	}
	return float64(first)
}

func (p *pipes) one(width int, at int32) int32 {
	best, pipe := int32(-1), 0
	choices := width
	if width == len(p.used) {
		choices = 3
	}
	for i := range choices {
		if width == len(p.used) {
			p.next = p.next*1664525 + 1013904223
			hi, _ := bits.Mul32(p.next, uint32(width))
			i = int(hi)
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
