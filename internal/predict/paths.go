package predict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
)

// A Path is one way through code without loops, or once through a loop.
type Path struct {
	Name         string
	Instructions int
	// Once is how many cycles one run through it takes, Steady how many each of many runs
	// takes, as llvm-mca says: no branch is mispredicted.
	Once, Steady float64
	// Listing is set for the code as it stands, of which no way may lead through all.
	Listing bool
	// Share is how many of the units go this way, by what is known or else assumed of each
	// branch as if it was independent of all others. Loops within are gone through once.
	Share float64
	// Timeline is one run as llvm-mca draws it.
	Timeline string

	steps []flow.Step
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

// ShownPaths is how many ways through a side are simulated unless a [Predictor] says
// otherwise.
const ShownPaths = 5

// pathsOf are the ways through a unit that most units go, without cycles, and how many more
// there are, at least if not all are known. Code without a loop is there as it stands, too, if
// it has branches, which is what llvm-mca makes of such a listing, though nothing ever runs
// so.
func pathsOf(side *Side, limit int) (paths []*Path, more int, all bool, err error) {
	g, loop := side.Code.Root, side.Loop
	list, all := g.Paths(loop)
	if len(list) == 0 {
		return nil, 0, false, errors.New("no way leads through the code")
	}
	branches := side.Rates.branches(loop, g)
	shares := make(map[*flow.Step]float64, len(list)) // by the first step
	for _, steps := range list {
		share := 1.0
		for i := range steps {
			s := &steps[i]
			if s.Inst().Kind != disasm.Conditional || g.ExitOf(s.At, loop).Loop {
				continue
			}
			p, known := side.sampled(s.Site)
			if !known {
				p = branches(s.Site).Taken
			}
			if !s.Taken {
				p = 1 - p
			}
			share *= p
		}
		shares[&steps[0]] = share
	}
	slices.SortStableFunc(list, func(a, b []flow.Step) int { return cmp.Compare(shares[&b[0]], shares[&a[0]]) })
	if len(list) > limit {
		list, more = list[:limit], len(list)-limit
	}
	if loop < 0 && g.Branches() > 0 {
		var steps []flow.Step
		for i := range g.Insts {
			steps = append(steps, flow.Step{Site: flow.Site{Graph: g, At: i}})
		}
		paths = append(paths, &Path{Name: "listing", Listing: true, steps: steps})
	}
	for i, steps := range list {
		name := fmt.Sprintf("P%d", i+1)
		if len(list) == 1 {
			name = "path"
		}
		paths = append(paths, &Path{Name: name, Share: shares[&steps[0]], steps: steps})
	}
	return paths, more, all, nil
}

// rareWay is how likely a way is taken to be at least, of which there are no samples.
const rareWay = 0.02

// sampled is how likely a branch of a side jumps by the samples in the blocks after it, if
// nothing else is known of it: as the samples of an instruction there, on the average.
func (s *Side) sampled(at flow.Site) (taken float64, known bool) {
	if s.heat == nil || s.Rates.Source != SourceAssumed {
		return 0, false
	}
	g := at.Graph
	from := &g.Blocks[g.BlockOf[at.At]]
	if from.Taken < 0 || from.Next < 0 {
		return 0, false
	}
	density := func(block int) (sum float64) {
		b := &g.Blocks[block]
		for i := b.First; i < b.End; i++ {
			sum += s.heat(g, i)
		}
		return sum / float64(b.End-b.First)
	}
	jump, next := density(from.Taken), density(from.Next)
	if jump+next == 0 {
		return 0, false
	}
	return max(rareWay, min(1-rareWay, jump/(jump+next))), true
}

// simulatePaths simulates paths with llvm-mca, repeated up to so many instructions.
func simulatePaths(ctx context.Context, tool Simulator, m *Machine, paths []*Path, text int) error {
	var drawn, repeated []llvm.Region
	for _, p := range paths {
		p.Instructions = len(p.steps)
		once := llvm.Region{Name: p.Name}
		for i := range p.steps {
			s := p.steps[i].Site
			if line := asm.TimelineText(s.Graph.Arch, s.Inst()); line != "" {
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
		drawn, repeated = append(drawn, once), append(repeated, many)
	}
	drawings, err := tool.Simulate(ctx, m.drawing(), drawn)
	if err != nil {
		return pathError(err, paths)
	}
	simulations, err := tool.Simulate(ctx, m.options(), repeated)
	if err != nil {
		return err
	}
	for i, p := range paths {
		once, many := &drawings[i], &simulations[i]
		p.Once = once.TotalCycles
		p.Timeline = once.TimelineText()
		n, copied := len(many.Timeline), copies(len(drawn[i].Lines), text)
		if n > 0 && n%copied == 0 {
			p.Steady = float64(many.Timeline[n-1].Retired-many.Timeline[n/2-1].Retired) / float64(copied/2)
		}
	}
	return nil
}

// pathError names the line of the assembly that llvm-mca cannot parse.
func pathError(err error, paths []*Path) error {
	var parse *llvm.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	p := parse.Index
	if p >= len(paths) {
		return err
	}
	k := 0
	for i := range paths[p].steps {
		s := paths[p].steps[i].Site
		in := s.Inst()
		if asm.TimelineText(s.Graph.Arch, in) == "" {
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
func instError(in *asm.Inst, parse *llvm.ParseError) error {
	message := strings.TrimSpace(parse.Message)
	if in.Line > 0 {
		return &asm.Error{Line: in.Line, Column: in.Column + parse.Column, Msg: fmt.Sprintf("llvm-mca: %s: %s", message, in.Text)}
	}
	return fmt.Errorf("%#x: llvm-mca: %s: %s", in.Addr, message, in.Text)
}
