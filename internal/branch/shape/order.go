package shape

import (
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// independent reports whether a branch in a loop tests an element of data, and nothing else
// depends on the order in which the loop goes through them: only then may the data be sorted.
// Whatever is not understood counts against it. In an iteration of such a loop
//
//  1. registers that it takes over from the iteration before go on by a constant step, or are
//     sums to which it adds and which nothing else reads;
//  2. what the branch compares comes from loads whose addresses follow from such steps, and
//     from what does not change: not from sums, nor from what the loop stores;
//  3. it stores to the element that it tests, elsewhere than what is tested, or adds to a
//     place: what is written one after the other depends on the order;
//  4. it calls nothing, and is left at one place, which tests no element.
//
// A bit of a decoder's state, the way of a search, and what a sort compares fail it.
func (c *codeText) independent(loop, block int) bool {
	o := order{codeText: c, in: c.f.Loops[loop].Blocks, header: c.f.Loops[loop].Header, defs: make(map[asm.Register][]int)}
	for _, b := range o.in {
		for i := c.f.Blocks[b].First; i < c.f.Blocks[b].End; i++ {
			switch c.f.Insts[i].Kind {
			case disasm.Other, disasm.Conditional, disasm.Jump:
			default:
				return false
			}
			o.insts = append(o.insts, i)
			for _, r := range c.operation(i).defs {
				o.defs[r] = append(o.defs[r], i)
			}
		}
	}
	for r := range o.defs {
		if read, _ := c.read(r, o.header, o.in); read && !o.step(r) && !o.sum(r) {
			return false
		}
	}
	exits := 0
	for _, b := range o.in {
		if slices.ContainsFunc(c.f.Blocks[b].Succs, func(s int) bool { return !slices.Contains(o.in, s) }) {
			if _, data := o.element(b); data {
				return false
			}
			exits++
		}
	}
	if exits != 1 {
		return false
	}
	tested, ok := o.element(block)
	return ok && o.storesElsewhere(tested)
}

// An order is a loop, of which is asked whether the order of its iterations matters.
type order struct {
	*codeText
	in     []int // blocks
	header int
	insts  []int
	defs   map[asm.Register][]int // instructions that write a register
}

// step reports whether a register goes on by a constant in each iteration.
func (o *order) step(r asm.Register) bool {
	for _, i := range o.defs[r] {
		text := o.f.Text(i)
		name, _ := asm.Mnemonic(archOf(text), text)
		moved, by := asm.InductionStep(archOf(text), text)
		op := o.operation(i)
		down := op.constant && slices.Equal(op.uses, []asm.Register{r}) && hasPrefix(name, "sub", "dec") || hasPrefix(name, "dec") && op.memory == ""
		along := name == "lea" && slices.Equal(op.uses, []asm.Register{r})
		if !(moved == r && by != 0) && !down && !along || !o.always(i) {
			return false
		}
	}
	return true
}

// always reports whether an instruction is on all ways through the loop.
func (o *order) always(i int) bool {
	for _, b := range o.in {
		if !slices.Contains(o.f.Blocks[b].Succs, o.header) {
			continue
		}
		at := b
		for at >= 0 && !(o.f.Blocks[at].First <= i && i < o.f.Blocks[at].End) {
			if at == o.header {
				return false
			}
			at = o.f.Blocks[at].Dominator
		}
		if at < 0 {
			return false
		}
	}
	return true
}

// sum reports whether the loop only adds to a register, in whatever order.
func (o *order) sum(r asm.Register) bool {
	for _, i := range o.insts {
		op := o.operation(i)
		writes, reads := slices.Contains(op.defs, r), slices.Contains(op.uses, r)
		switch {
		case !writes && !reads:
		case !writes || !reads || slices.Contains(op.address, r):
			return false
		default:
			text := o.f.Text(i)
			name, _ := asm.Mnemonic(archOf(text), text)
			if !hasPrefix(name, "add", "sub", "inc", "dec", "adc", "sbb", "or", "and", "xor", "eor", "imul", "mul", "madd", "cinc", "csinc", "fadd", "fmadd", "padd", "vadd", "vpadd") {
				return false
			}
		}
	}
	return true
}

// element finds the loads that decide a branch. ok is false if something else does.
func (o *order) element(block int) (loads []operation, ok bool) {
	seen := make(map[asm.Register]bool)
	next := o.tested(block)
	b := &o.f.Blocks[block]
	// A comparison with memory is a load.
	for i := b.End - 1; i >= b.First; i-- {
		if op := o.operation(i); op.compares || i == b.End-1 || len(loads) == 0 && op.loads && op.arithmetic {
			if op.loads && op.memory != "" {
				loads = append(loads, op)
			}
			if op.compares {
				break
			}
		}
	}
	for len(next) > 0 {
		r := next[0]
		next = next[1:]
		if seen[r] || len(o.defs[r]) == 0 {
			continue
		}
		seen[r] = true
		if carried, _ := o.read(r, o.header, o.in); carried {
			if !o.step(r) {
				return nil, false
			}
			continue
		}
		for _, i := range o.defs[r] {
			op := o.operation(i)
			if op.loads && op.memory != "" {
				loads = append(loads, op)
			}
			next = append(next, op.uses...)
		}
	}
	varies := slices.ContainsFunc(loads, func(op operation) bool {
		return slices.ContainsFunc(op.address, func(r asm.Register) bool { return len(o.defs[r]) > 0 })
	})
	return loads, varies
}

// storesElsewhere reports whether the loop stores only to elements that it tests, elsewhere
// than what is tested, or adds to a place.
func (o *order) storesElsewhere(tested []operation) bool {
	for _, i := range o.insts {
		op := o.operation(i)
		if !op.stores {
			continue
		}
		text := o.f.Text(i)
		name, _ := asm.Mnemonic(archOf(text), text)
		if op.loads && op.arithmetic && hasPrefix(name, "add", "sub", "inc", "dec", "or", "and", "xor") && !slices.ContainsFunc(tested, func(t operation) bool { return t.memory == op.memory }) {
			continue // adds to a place
		}
		same := slices.ContainsFunc(tested, func(t operation) bool {
			return len(t.address) > 0 && slices.Equal(t.address, op.address) && stem(t.memory) == stem(op.memory) && t.displacement != op.displacement
		})
		if !same || slices.ContainsFunc(tested, func(t operation) bool { return t.memory == op.memory }) {
			return false
		}
	}
	return true
}

// stem is an operand in memory without its displacement.
func stem(memory string) string {
	if i := strings.IndexByte(memory, '('); i >= 0 {
		return memory[i:]
	}
	stem, _, _ := strings.Cut(memory, "#")
	return strings.TrimRight(stem, "], ")
}

// bare are instructions of x86 without operands that change registers.
var bare = []string{"cqto", "cltd", "cltq", "cwtl", "cwtd", "cbtw", "leave"}

// archOf tells from registers and constants, which are marked on x86, what an instruction is
// for.
func archOf(text string) asm.Arch {
	if strings.ContainsAny(text, "%$") || slices.Contains(bare, text) {
		return asm.X8664
	}
	return asm.AArch64
}
