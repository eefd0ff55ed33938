package flow

import (
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// DependsOnData reports whether a branch compares what was loaded, so that a loop that
// it ends has no regular number of trips.
func (g *Graph) DependsOnData(at int) bool {
	loop := g.LoopOf[g.BlockOf[at]]
	if loop < 0 {
		return true
	}
	op, ok := asm.OperationOf(g.Arch, g.Insts[at].Text)
	if !ok {
		return false
	}
	wanted := make(map[asm.Register]bool)
	for _, r := range op.Reads {
		wanted[r] = true
	}
	// The comparison is in the same block, or in one before it.
	var compared []asm.Register
	for i := at - 1; i >= 0 && i >= at-16; i-- {
		if calls(g.Insts[i].Kind) && wanted[asm.ResultRegister] {
			return true
		}
		o, _ := asm.OperationOf(g.Arch, g.Insts[i].Text)
		for _, w := range o.Writes {
			if wanted[w] {
				if o.Load && !strings.HasPrefix(o.Memory, "-") && !stackAddress(&o) {
					return true
				}
				compared = o.Reads
			}
		}
		if compared != nil {
			break
		}
	}
	if g.Arch == asm.AArch64 && compared == nil {
		compared = op.Reads
	}
	return g.loadedIn(loop, compared, 4)
}

func calls(k disasm.Kind) bool { return k == disasm.Call || k == disasm.IndirectCall }

func stackAddress(o *asm.Operation) bool {
	return len(o.Address) == 1 && (o.Address[0] == asm.RSP || o.Address[0] == asm.RBP)
}

// loadedIn reports whether a loop loads one of the registers, or makes it of such: by at
// most so many instructions that follow from each other.
func (g *Graph) loadedIn(loop int, registers []asm.Register, depth int) bool {
	var seen [asm.Registers]bool
	for ; depth > 0 && len(registers) > 0; depth-- {
		var wanted, next [asm.Registers]bool
		for _, r := range registers {
			if r < asm.CF {
				wanted[r], seen[r] = true, true
			}
			if r == asm.ResultRegister && g.callsIn(loop) {
				return true // what a function answers may be anything
			}
		}
		for _, b := range g.Loops[loop].Blocks {
			for i := g.Blocks[b].First; i < g.Blocks[b].End; i++ {
				o, _ := asm.OperationOf(g.Arch, g.Insts[i].Text)
				for _, w := range o.Writes {
					if w >= asm.CF || !wanted[w] {
						continue
					}
					if o.Load && slices.Contains(o.Address, w) && !slices.Contains(o.Writes[:1], w) {
						continue // goes on with each load
					}
					if o.Load && !stackAddress(&o) {
						return true
					}
					for _, s := range o.Reads {
						if s < asm.CF && s != w {
							next[s] = true
						}
					}
				}
			}
		}
		registers = registers[:0:0]
		for r := range next {
			if next[r] && !seen[r] {
				registers = append(registers, asm.Register(r))
			}
		}
	}
	return false
}

// callsIn reports whether a loop calls functions.
func (g *Graph) callsIn(loop int) bool {
	for _, b := range g.Loops[loop].Blocks {
		for i := g.Blocks[b].First; i < g.Blocks[b].End; i++ {
			if calls(g.Insts[i].Kind) {
				return true
			}
		}
	}
	return false
}

// StoresByData reports whether data decide where a loop stores, while it loads from
// there: through the same register, or with the same instruction.
func (g *Graph) StoresByData(loop int) bool {
	if loop < 0 {
		return false
	}
	var ops []asm.Operation
	for _, b := range g.Loops[loop].Blocks {
		for i := g.Blocks[b].First; i < g.Blocks[b].End; i++ {
			if g.Insts[i].Kind == disasm.Other {
				op, _ := asm.OperationOf(g.Arch, g.Insts[i].Text)
				ops = append(ops, op)
			}
		}
	}
	data := make(map[asm.Register]bool) // what comes of loaded values
	isData := func(r asm.Register) bool { return data[r] }
	for changed := true; changed; {
		changed = false
		for i := range ops {
			op := &ops[i]
			if !(op.Load && !stackAddress(op) || slices.ContainsFunc(op.Reads, isData)) {
				continue
			}
			for _, r := range op.Writes {
				if !data[r] {
					data[r], changed = true, true
				}
			}
		}
	}
	for i := range ops {
		store := &ops[i]
		if !store.Store || stackAddress(store) || !slices.ContainsFunc(store.Address, isData) {
			continue
		}
		for k := range ops {
			load := &ops[k]
			if load.Load && (i == k || slices.ContainsFunc(load.Address, func(r asm.Register) bool { return !data[r] && slices.Contains(store.Address, r) })) {
				return true
			}
		}
	}
	return false
}
