package flow

import (
	"fmt"
	"slices"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// A Graph is the control flow of one function, or of a listing without functions.
type Graph struct {
	Name   string
	Arch   asm.Arch
	Insts  []asm.Inst
	Blocks []Block
	Loops  []disasm.Loop // each outer before the inner
	// Incomplete says why edges are missing, "" if none are.
	Incomplete string

	BlockOf []int // of an instruction
	LoopOf  []int // innermost loop of a block, or -1

	retries []bool // loops that only try again, nil if that was not asked for
}

// A Block is a basic block. Calls do not end one.
type Block struct {
	First, End int // Insts[First:End]
	// Taken and Next are the blocks after it if its last instruction jumps, and if it
	// does not; -1 for ways out of the function.
	Taken, Next int
	// Others are what an indirect jump at its end may reach.
	Others []int
}

// Succs calls f for the successors of a block.
func (b *Block) Succs(f func(int)) {
	if b.Taken >= 0 {
		f(b.Taken)
	}
	if b.Next >= 0 && b.Next != b.Taken {
		f(b.Next)
	}
	for _, s := range b.Others {
		f(s)
	}
}

// Of returns the control flow of a part of a listing.
func Of(l *asm.Listing, f asm.Function) *Graph {
	insts, incomplete := slices.Clone(l.Insts[f.First:f.End]), ""
	for i := range insts {
		in := &insts[i]
		if in.To -= f.First; in.To < 0 || in.To >= len(insts) {
			in.To = -1
		}
		if in.Kind == disasm.IndirectJump && incomplete == "" {
			incomplete = "the targets of " + in.Text + " are not known"
		}
	}
	g := &Graph{Name: f.Name, Arch: l.Arch, Insts: insts, Incomplete: incomplete}
	g.build()
	return g
}

// OfFunction returns the control flow of a function of a binary. Its blocks, edges and loops
// are f's own, with the same numbers: what was found in f is at the same place here. insts
// are the instructions of f with the text that llvm-mca reads.
func OfFunction(f *disasm.Function, name string, arch asm.Arch, insts []asm.Inst) *Graph {
	g := &Graph{Name: name, Arch: arch, Insts: insts, Loops: f.Loops, Incomplete: f.Incomplete}
	g.BlockOf = make([]int, len(insts))
	g.LoopOf = make([]int, len(f.Blocks))
	g.Blocks = make([]Block, len(f.Blocks))
	for b := range f.Blocks {
		from := &f.Blocks[b]
		block := &g.Blocks[b]
		*block = Block{First: from.First, End: from.End, Taken: -1, Next: -1}
		g.LoopOf[b] = f.LoopOf(b)
		for i := from.First; i < from.End; i++ {
			g.BlockOf[i] = b
			insts[i].To = -1
		}
		last := &f.Insts[from.End-1]
		for _, s := range from.Succs {
			first := f.Blocks[s].First
			switch addr := f.Insts[first].Addr; {
			case last.Kind == disasm.IndirectJump:
				block.Others = append(block.Others, s)
				continue
			case addr == last.Target && (last.Kind == disasm.Conditional || last.Kind == disasm.Jump):
				block.Taken, insts[from.End-1].To = s, first
			}
			if f.Insts[first].Addr == last.Next() && last.Kind != disasm.Jump {
				block.Next = s
			}
		}
	}
	return g
}

// after is the instruction that is next unless the one before it jumps, -1 for none: a call
// of what never returns has none.
func (g *Graph) after(at int) int {
	block := &g.Blocks[g.BlockOf[at]]
	switch {
	case at+1 < block.End:
		return at + 1
	case block.Next >= 0:
		return g.Blocks[block.Next].First
	}
	return -1
}

// build finds the blocks and loops of a listing, of which nothing else is known.
func (g *Graph) build() {
	starts := make([]bool, len(g.Insts)+1)
	starts[0] = true
	for i := range g.Insts {
		in := &g.Insts[i]
		switch in.Kind {
		case disasm.Other, disasm.Call, disasm.IndirectCall:
			continue
		case disasm.Conditional, disasm.Jump:
			if in.To >= 0 {
				starts[in.To] = true
			}
		}
		starts[i+1] = true
	}
	g.BlockOf = make([]int, len(g.Insts))
	for i := range g.Insts {
		if starts[i] {
			g.Blocks = append(g.Blocks, Block{First: i, Taken: -1, Next: -1})
		}
		g.Blocks[len(g.Blocks)-1].End = i + 1
		g.BlockOf[i] = len(g.Blocks) - 1
	}
	for b := range g.Blocks {
		block := &g.Blocks[b]
		last := block.End - 1
		in := &g.Insts[last]
		if in.To >= 0 && (in.Kind == disasm.Conditional || in.Kind == disasm.Jump) {
			block.Taken = g.BlockOf[in.To]
		}
		falls := in.Kind == disasm.Other || in.Kind == disasm.Conditional || in.Kind == disasm.Call || in.Kind == disasm.IndirectCall
		if falls && b+1 < len(g.Blocks) {
			block.Next = b + 1
		}
	}
	g.findLoops()
}

// maxDepth limits how deep loops are nested in what is looked at.
const maxDepth = 64

// findLoops finds the loops as package disasm does.
func (g *Graph) findLoops() {
	blocks := make([]disasm.Block, len(g.Blocks))
	for b, reached := range g.reachable() {
		blocks[b].Reachable = reached
		g.Blocks[b].Succs(func(s int) { blocks[b].Succs = append(blocks[b].Succs, s) })
		slices.Sort(blocks[b].Succs)
		blocks[b].Succs = slices.Compact(blocks[b].Succs)
		for _, s := range blocks[b].Succs {
			blocks[s].Preds = append(blocks[s].Preds, b)
		}
	}
	if len(blocks) > 0 {
		blocks[0].Dominator = -1
	}
	g.Loops, g.LoopOf, _ = disasm.FindLoops(blocks, maxDepth)
}

// reachable are the blocks that can be reached from the first one.
func (g *Graph) reachable() []bool {
	reached := make([]bool, len(g.Blocks))
	if len(g.Blocks) == 0 {
		return reached
	}
	todo := []int{0}
	reached[0] = true
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		g.Blocks[b].Succs(func(s int) {
			if !reached[s] {
				reached[s] = true
				todo = append(todo, s)
			}
		})
	}
	return reached
}

// Entries is the number of blocks from which control comes to a block.
func (g *Graph) Entries(block int) (n int) {
	for b := range g.Blocks {
		g.Blocks[b].Succs(func(s int) {
			if s == block {
				n++
			}
		})
	}
	return n
}

// InLoop reports whether a block is in a loop or in one within it.
func (g *Graph) InLoop(block, loop int) bool {
	for l := g.LoopOf[block]; l >= 0; l = g.Loops[l].Parent {
		if l == loop {
			return true
		}
	}
	return false
}

// Branches counts the instructions of a part that may jump and go on.
func (g *Graph) Branches() (n int) {
	for i := range g.Insts {
		if g.Insts[i].Kind == disasm.Conditional {
			n++
		}
	}
	return n
}

// MainLoop is the outermost loop with the most instructions that has trips of its own, see
// [Graph.Retries].
func (g *Graph) MainLoop() (int, error) {
	best, size := -1, 0
	for i := range g.Loops {
		n := 0
		for _, b := range g.Loops[i].Blocks {
			n += g.Blocks[b].End - g.Blocks[b].First
		}
		if g.Loops[i].Parent < 0 && n > size && !g.Retries(i) {
			best, size = i, n
		}
	}
	if best < 0 {
		return -1, fmt.Errorf("%s has no loop", g.Name)
	}
	return best, nil
}
