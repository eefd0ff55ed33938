package predict

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
)

// maxPaths is how many paths through code are looked at.
const maxPaths = 64

// A Path is one way through code without loops, or once through a loop.
type Path struct {
	Name         string
	Instructions int
	// Once is the cycles of one run through it, Steady those of each of many, as
	// llvm-mca says: no branch is mispredicted.
	Once, Steady float64
	// Listing is set for the code as it stands, of which no way may lead through all.
	Listing bool
	// Timeline is that of one run, as llvm-mca draws it.
	Timeline string

	steps []step
}

// paths are the ways through a loop, or through all code if loop is -1, and whether
// these are all. Calls are not followed. A way goes through the loops within at most
// once.
func (g *Graph) paths(loop int) (paths [][]step, all bool) {
	start := 0
	if loop >= 0 {
		start = g.Loops[loop].Header
	}
	visits := make([]int, len(g.Blocks))
	all = true
	budget := 1 << 14 // blocks
	var steps []step
	var walk func(b int)
	next := func(from, to int) {
		switch {
		case to < 0 || to == start || loop >= 0 && !g.inLoop(to, loop):
			if loop >= 0 && to != start {
				return // a way out of the loop
			}
			if len(paths) == maxPaths {
				all = false
				return
			}
			paths = append(paths, append([]step(nil), steps...))
		case visits[to] > 1 || visits[to] == 1 && !g.back(from, to):
		default:
			walk(to)
		}
	}
	walk = func(b int) {
		if budget--; budget < 0 || len(paths) == maxPaths {
			all = false
			return
		}
		visits[b]++
		n := len(steps)
		block := &g.Blocks[b]
		for i := block.First; i < block.End; i++ {
			steps = append(steps, step{site: site{g, i}})
		}
		last := &steps[len(steps)-1]
		switch kind := g.Insts[block.End-1].Kind; kind {
		case disasm.Conditional:
			if block.Next != block.Taken {
				next(b, block.Next)
			}
			steps[n+block.End-block.First-1].taken = true
			next(b, block.Taken)
		case disasm.Jump:
			last.taken = true
			next(b, block.Taken)
		case disasm.IndirectJump:
			last.taken = true
			for _, to := range block.Others {
				next(b, to)
			}
			if len(block.Others) == 0 {
				next(b, -1)
			}
		case disasm.Return, disasm.Trap:
			last.taken = kind == disasm.Return
			next(b, -1)
		default:
			next(b, block.Next)
		}
		steps = steps[:n]
		visits[b]--
	}
	walk(start)
	return paths, all
}

// back reports whether an edge goes to the header of a loop that it is in.
func (g *Graph) back(from, to int) bool {
	for l := g.loopOf[from]; l >= 0; l = g.Loops[l].Parent {
		if g.Loops[l].Header == to {
			return true
		}
	}
	return false
}

// The copies of a path in a row, of which the second half is steady: an even number.
const (
	maxCopies  = 40
	copiedText = 2000 // instructions
)

// copies is how often a path is repeated if so much text may come of it.
func copies(instructions, text int) int {
	return max(4, min(maxCopies, text/max(1, instructions))&^1)
}

// pathsOf are the ways through a unit, without cycles: code without a loop as it stands
// too if it has branches, which is what llvm-mca makes of such a listing, though nothing
// ever runs so.
func (g *Graph) pathsOf(loop, limit int) (paths []*Path, all bool, err error) {
	list, all := g.paths(loop)
	if len(list) == 0 {
		return nil, false, errors.New("no way leads through the code")
	}
	if len(list) > limit {
		list, all = list[:limit], false
	}
	if loop < 0 && g.branches() > 0 {
		var steps []step
		for i := range g.Insts {
			steps = append(steps, step{site: site{g, i}})
		}
		paths = append(paths, &Path{Name: "listing", Listing: true, steps: steps})
	}
	for i, steps := range list {
		name := fmt.Sprintf("P%d", i+1)
		if len(list) == 1 {
			name = "path"
		}
		paths = append(paths, &Path{Name: name, steps: steps})
	}
	return paths, all, nil
}

// simulatePaths simulates paths with llvm-mca, repeated up to so many instructions.
func simulatePaths(ctx context.Context, tool Simulator, m *Machine, paths []*Path, text int) error {
	var regions []llvm.Region
	for _, p := range paths {
		p.Instructions = len(p.steps)
		once := llvm.Region{Name: p.Name}
		for i := range p.steps {
			s := p.steps[i].site
			if line := mcaText(s.g.Arch, &s.g.Insts[s.at]); line != "" {
				once.Lines = append(once.Lines, line)
			}
		}
		if len(once.Lines) == 0 {
			once.Lines = []string{"nop"}
		}
		many := llvm.Region{Name: p.Name + " repeated"}
		for range copies(len(once.Lines), text) {
			many.Lines = append(many.Lines, once.Lines...)
		}
		regions = append(regions, once, many)
	}
	simulations, err := tool.Simulate(ctx, m.options(), regions)
	if err != nil {
		return pathError(err, paths)
	}
	for i, p := range paths {
		once, many := &simulations[2*i], &simulations[2*i+1]
		p.Once = once.TotalCycles
		p.Timeline = once.TimelineText()
		n, copied := len(many.Timeline), copies(len(regions[2*i].Lines), text)
		if n > 0 && n%copied == 0 {
			p.Steady = float64(many.Timeline[n-1].Retired-many.Timeline[n/2-1].Retired) / float64(copied/2)
		}
	}
	return nil
}

// mcaText is the text of an instruction for a timeline: as it is where llvm-mca can
// simulate that.
func mcaText(arch Arch, in *Inst) string {
	if arch == X8664 && in.Kind == disasm.Return {
		return in.Text
	}
	return standIn(arch, in, nil)
}

// pathError names the line of the assembly that llvm-mca cannot parse.
func pathError(err error, paths []*Path) error {
	var parse *llvm.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	p := parse.Index / 2
	if parse.Index%2 != 0 || p >= len(paths) {
		return err
	}
	k := 0
	for i := range paths[p].steps {
		s := paths[p].steps[i].site
		in := &s.g.Insts[s.at]
		if mcaText(s.g.Arch, in) == "" {
			continue
		}
		if k == parse.Line {
			return instError(in, parse)
		}
		k++
	}
	return err
}

// instError is the error of an instruction that llvm-mca cannot parse.
func instError(in *Inst, parse *llvm.ParseError) error {
	message := strings.TrimSpace(parse.Message)
	if in.Line > 0 {
		return &AsmError{in.Line, in.Column + parse.Column, fmt.Sprintf("llvm-mca: %s: %s", message, in.Text)}
	}
	return fmt.Errorf("%#x: llvm-mca: %s: %s", in.Addr, message, in.Text)
}
