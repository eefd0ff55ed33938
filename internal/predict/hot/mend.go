package hot

import (
	"slices"

	"profdiff/internal/disasm"
)

// mend puts the callers back that stacks of frame pointers skip: the caller of a function that
// keeps no frame, as functions that call none. The frame above tells which function it called;
// that this is not the function where the sample is, but one that calls it, or one that calls
// what a register says. Of several such calls each gets its part, by the samples in the loop
// that it is in.
func (p *Profile) mend(b *Binary) {
	if p.mended {
		return
	}
	p.mended = true
	var leaves []leaf
	sites := make(map[[2]uint64][]site) // by the caller and what it calls
	for i := range p.leaves {
		l := &p.leaves[i]
		between, callee := l.skipped(b)
		if between == nil {
			leaves = append(leaves, *l)
			continue
		}
		key := [2]uint64{between.Start, callee}
		list, ok := sites[key]
		if !ok {
			list = p.sites(b, between, callee)
			sites[key] = list
		}
		if len(list) == 0 {
			leaves = append(leaves, *l)
			continue
		}
		at := 1
		if l.outside != "" {
			at = 0
		}
		for k, s := range list {
			part := *l
			part.frames = slices.Insert(slices.Clone(l.frames), at, s.addr)
			part.weight.Weight *= s.share
			part.weight.WeightSq *= s.share
			if k > 0 {
				part.count = 0
			}
			leaves = append(leaves, part)
		}
	}
	p.leaves = leaves
}

// skipped is the function that a stack skips, and what it calls, 0 for a function of another
// binary; nil if it skips none.
func (l *leaf) skipped(b *Binary) (between *disasm.Function, callee uint64) {
	frames := l.frames
	if l.outside == "" {
		f, err := b.Function(frames[0])
		if err != nil {
			return nil, 0
		}
		callee, frames = f.Start, frames[1:]
	}
	if len(frames) == 0 {
		return nil, 0
	}
	g, err := b.Function(frames[0])
	if err != nil {
		return nil, 0
	}
	to, ok := calledAt(g, frames[0])
	if !ok || to == 0 || to == callee {
		return nil, 0
	}
	between, err = b.Function(to)
	if err != nil || between.Start != to || between.Start == callee || l.outside != "" && stub(between) {
		return nil, 0
	}
	return between, callee
}

// stub reports whether a function only jumps to where a table says, as the entries of .plt do.
func stub(f *disasm.Function) bool {
	n := len(f.Insts)
	return n > 0 && n <= 4 && f.Insts[n-1].Kind == disasm.IndirectJump
}

// A site is a call, with its part of all that may be meant.
type site struct {
	addr  uint64
	share float64
}

// sites are the calls of a function that may go to another one, 0 for one of another binary.
func (p *Profile) sites(b *Binary, f *disasm.Function, callee uint64) (list []site) {
	var indirect []site
	for i := range f.Insts {
		switch in := &f.Insts[i]; {
		case in.Kind == disasm.IndirectCall:
			indirect = append(indirect, site{addr: in.Addr})
		case in.Kind != disasm.Call:
		case callee != 0 && in.Target == callee:
			list = append(list, site{addr: in.Addr})
		case callee == 0:
			if to, err := b.Function(in.Target); err == nil && stub(to) {
				list = append(list, site{addr: in.Addr})
			}
		}
	}
	if len(list) == 0 {
		list = indirect
	}
	loops := make(map[int]float64)
	for addr, w := range p.Weights {
		if addr >= f.Start && addr < f.End {
			loops[f.LoopOf(f.Block(addr))] += w
		}
	}
	var sum float64
	for i := range list {
		s := &list[i]
		s.share = loops[f.LoopOf(f.Block(s.addr))]
		sum += s.share
	}
	for i := range list {
		if sum > 0 {
			list[i].share /= sum
		} else {
			list[i].share = 1 / float64(len(list))
		}
	}
	return slices.DeleteFunc(list, func(s site) bool { return s.share == 0 })
}
