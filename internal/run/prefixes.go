package run

// Prefixes number sequences of numbers, such as the functions of stacks: each is one that was numbered
// before, its prefix, with one more element. Number 0 is the empty sequence, and prefixes precede
// what begins with them.
type Prefixes struct {
	nodes []prefixed
	// slots find sequences: open addressing with linear probing, 0 is free. What directly follows
	// its prefix, as most sequences do, is not in it.
	slots []int32
	used  int
}

type prefixed struct{ prefix, last int32 }

// NewPrefixes has the empty sequence.
func NewPrefixes() *Prefixes { return &Prefixes{nodes: []prefixed{{-1, -1}}} }

// Len is how many sequences there are, the empty one included.
func (p *Prefixes) Len() int { return len(p.nodes) }

// Parent is the number of a sequence without its last element.
func (p *Prefixes) Parent(n int32) int32 { return p.nodes[n].prefix }

// Last is the last element of a sequence that is not empty.
func (p *Prefixes) Last(n int32) int32 { return p.nodes[n].last }

// Of is the number of a sequence with one more element.
func (p *Prefixes) Of(prefix, last int32) int32 {
	if int(prefix) == len(p.nodes)-1 {
		return p.add(prefix, last) // nothing begins with it yet
	}
	key := prefixed{prefix, last}
	if p.nodes[prefix+1] == key {
		return prefix + 1
	}
	if 4*p.used >= 3*len(p.slots) {
		p.grow()
	}
	mask := uint64(len(p.slots) - 1)
	i := hash2(uint32(prefix), uint32(last)) & mask
	for ; p.slots[i] != 0; i = (i + 1) & mask {
		if p.nodes[p.slots[i]] == key {
			return p.slots[i]
		}
	}
	p.slots[i] = p.add(prefix, last)
	p.used++
	return p.slots[i]
}

func (p *Prefixes) add(prefix, last int32) int32 {
	p.nodes = append(p.nodes, prefixed{prefix, last})
	return int32(len(p.nodes) - 1)
}

func (p *Prefixes) grow() {
	old := p.slots
	p.slots = make([]int32, max(1<<10, 2*len(old)))
	mask := uint64(len(p.slots) - 1)
	for _, n := range old {
		if n == 0 {
			continue
		}
		i := hash2(uint32(p.nodes[n].prefix), uint32(p.nodes[n].last)) & mask
		for p.slots[i] != 0 {
			i = (i + 1) & mask
		}
		p.slots[i] = n
	}
}
