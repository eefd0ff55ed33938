package flow

import (
	"slices"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// TriesAgain reports whether the conditional branch at an instruction looks at what an atomic
// operation returned: whether an exclusive store was done, whether a place had the value that
// was expected, whether a lock was free. The comparison and the operation are in its block.
func (g *Graph) TriesAgain(at int) bool {
	if g.Insts[at].Kind != disasm.Conditional {
		return false
	}
	op, _ := asm.OperationOf(g.Arch, g.Insts[at].Text)
	wanted := slices.Clone(op.Reads)
	if len(wanted) == 0 {
		wanted = []asm.Register{asm.ZF}
	}
	flags := func(r asm.Register) bool { return r >= asm.CF }
	compared := false
	loop := g.LoopOf[g.BlockOf[at]]
	for i := at - 1; i >= max(0, at-maxTried) && g.LoopOf[g.BlockOf[i]] == loop; i-- {
		in := &g.Insts[i]
		o, _ := asm.OperationOf(g.Arch, in.Text)
		writes := o.Writes
		sync := asm.SyncOf(g.Arch, in.Text)
		if sync == asm.SyncAtomic || sync == asm.SyncExclusive {
			if slices.ContainsFunc(asm.Failure(g.Arch, in.Text), func(r asm.Register) bool { return slices.Contains(wanted, r) }) {
				return true
			}
			continue
		}
		if in.Kind == disasm.Call && asm.CallFails(in.Target) && slices.Contains(wanted, asm.ResultRegister) {
			return true
		}
		if !compared && slices.ContainsFunc(wanted, flags) && slices.ContainsFunc(writes, flags) || !slices.ContainsFunc(wanted, flags) && slices.ContainsFunc(writes, func(r asm.Register) bool { return slices.Contains(wanted, r) }) {
			compared = true
			wanted = slices.DeleteFunc(wanted, func(r asm.Register) bool { return flags(r) || slices.Contains(writes, r) })
			wanted = append(wanted, slices.DeleteFunc(slices.Clone(o.Reads), flags)...)
		}
	}
	return false
}

// maxTried is how far before a branch what it looks at is searched.
const maxTried = 32

// Retries reports whether a loop only tries again what another core prevented: it has an
// atomic operation, and whether it goes on is what that returned; or it waits for another core.
// It has no trips of its own: a core alone goes through it once.
func (g *Graph) Retries(loop int) bool {
	if g.retries == nil {
		g.retries = make([]bool, len(g.Loops))
		for i := range g.retries {
			g.retries[i] = g.onlyTries(i)
		}
	}
	return g.retries[loop]
}

// onlyTries looks through the code of a loop, which may be long, for [Graph.Retries].
func (g *Graph) onlyTries(loop int) bool {
	atomic, waits := false, false
	for _, b := range g.Loops[loop].Blocks {
		for i := g.Blocks[b].First; i < g.Blocks[b].End; i++ {
			in := &g.Insts[i]
			switch asm.SyncOf(g.Arch, in.Text) {
			case asm.SyncAtomic, asm.SyncExclusive:
				atomic = true
			case asm.SyncWait:
				waits = true
			}
			atomic = atomic || in.Kind == disasm.Call && asm.CallsAtomic(in.Target)
		}
	}
	if !atomic && !waits {
		return false
	}
	for _, b := range g.Loops[loop].Blocks {
		block := &g.Blocks[b]
		leaves := false
		block.Succs(func(s int) { leaves = leaves || !g.InLoop(s, loop) })
		last := block.End - 1
		switch {
		case !leaves && !(g.Insts[last].Kind == disasm.Conditional && (block.Taken < 0 || block.Next < 0)):
		case waits && g.Insts[last].Kind == disasm.Conditional:
		case !g.TriesAgain(last):
			return false
		}
	}
	return true
}

// OnlyRetries reports whether all loops only try again, see [Graph.Retries].
func (g *Graph) OnlyRetries() bool {
	for i := range g.Loops {
		if !g.Retries(i) {
			return false
		}
	}
	return true
}

// Retry is the way that a branch goes which another core did not disturb: out of the loop in
// which it tries again. ok is false for other branches.
func (g *Graph) Retry(at int) (taken, ok bool) {
	b := g.BlockOf[at]
	loop := g.LoopOf[b]
	if loop < 0 || g.Insts[at].Kind != disasm.Conditional || !g.Retries(loop) {
		return false, false
	}
	block := &g.Blocks[b]
	stays := func(s int) bool { return s >= 0 && g.InLoop(s, loop) }
	switch {
	case stays(block.Taken) && !stays(block.Next):
		return false, true
	case stays(block.Next) && !stays(block.Taken):
		// A way out before the store, as of a comparison and exchange, is not that of success.
		return !g.storesLater(loop, block.Next), true
	}
	header := g.Loops[loop].Header
	switch {
	case block.Taken == header, g.storesLater(loop, block.Next):
		return false, true
	case block.Next == header, g.storesLater(loop, block.Taken):
		return true, true
	}
	return false, false
}

// Back reports whether a branch goes back to the start of a loop that tries again, or leaves
// it.
func (g *Graph) Back(at int) bool {
	if _, retry := g.Retry(at); !retry {
		return false
	}
	b := g.BlockOf[at]
	header := g.Loops[g.LoopOf[b]].Header
	return g.Blocks[b].Taken == header || g.Blocks[b].Next == header
}

// storesLater reports whether a block of a loop, or one after it in the loop, is where an
// exclusive store is.
func (g *Graph) storesLater(loop, block int) bool {
	for seen := map[int]bool{}; block >= 0 && !seen[block] && g.InLoop(block, loop) && block != g.Loops[loop].Header; block = g.Blocks[block].Next {
		seen[block] = true
		for i := g.Blocks[block].First; i < g.Blocks[block].End; i++ {
			o, _ := asm.OperationOf(g.Arch, g.Insts[i].Text)
			if asm.SyncOf(g.Arch, g.Insts[i].Text) == asm.SyncExclusive && o.Store {
				return true
			}
		}
	}
	return false
}
