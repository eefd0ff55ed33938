package predict

import (
	"context"
	"fmt"

	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
)

// A SideInput is one side of recordings.
type SideInput struct {
	Name    string
	Binary  *hot.Binary
	Profile *hot.Profile
	// Branches is what is known of the branches of the binary, nil if that is nothing.
	Branches *branch.Table
}

// rates looks branches of the binary up in the table.
func (in *SideInput) rates() Rates {
	t := in.Branches
	if t == nil {
		return Rates{Source: SourceAssumed}
	}
	source := SourceMeasured
	if t.Counted() {
		source = SourceSimulated
	}
	known := make(map[uint64]flow.Branch)
	counted := false
	for i := range t.Branches {
		counted = counted || t.Branches[i].PTaken != nil
	}
	for i := range t.Branches {
		b := &t.Branches[i]
		if b.Kind != branch.Conditional || b.ByLine || !in.Binary.Is(b.DSO, b.BuildID) {
			continue
		}
		var out flow.Branch
		switch {
		case b.PTaken != nil:
			out.Taken = b.PTaken.Value
			out.Bounds = boundsOf(b)
		case source == SourceSimulated && counted:
			// Callgrind writes no jump of a branch that never jumped.
		default:
			continue
		}
		switch {
		case b.Rate == nil:
			out.Miss = min(out.Taken, 1-out.Taken)
		case b.Rate.Value != nil:
			out.Miss = *b.Rate.Value
		default:
			out.Miss = (b.Rate.Bounds[0] + b.Rate.Bounds[1]) / 2
		}
		if b.Executed != nil {
			out.Executed = *b.Executed
		}
		known[b.Address] = out
	}
	return Rates{Source: source, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
		b, ok := known[g.Insts[at].Addr]
		return b, ok
	}}
}

// boundsOf are the bounds of a branch of which it is known how often it is taken, nil if
// there is nothing in doubt.
func boundsOf(b *branch.Branch) *flow.Bounds {
	out := flow.Bounds{Taken: [2]float64{b.PTaken.Lo, b.PTaken.Hi}}
	if b.Rate != nil {
		out.Miss = b.Rate.CI
	} else {
		out.Miss[1] = min(b.PTaken.Value, 1-b.PTaken.Value)
	}
	if out.Taken[0] == out.Taken[1] && out.Miss[0] == out.Miss[1] {
		return nil
	}
	return &out
}

// executions are how often the conditional branches of a function ran, by address.
func (in *SideInput) executions() map[uint64]float64 {
	out := make(map[uint64]float64)
	if t := in.Branches; t != nil && t.Scaled {
		for i := range t.Branches {
			if b := &t.Branches[i]; !b.ByLine && b.Executed != nil && in.Binary.Is(b.DSO, b.BuildID) {
				out[b.Address] = *b.Executed
			}
		}
	}
	return out
}

// code is the code of a function of the side with those it calls that have no loops, or
// of whose branches something is known.
func (in *SideInput) code(ctx context.Context, tool hot.Disassembler, start uint64, rates *Rates, own bool) (*flow.Code, error) {
	root, err := in.Binary.Graph(ctx, tool, start, own)
	if err != nil {
		return nil, err
	}
	code := &flow.Code{Root: root}
	few := maxObjdump
	code.Callee = func(_ *flow.Graph, call *asm.Inst) *flow.Graph {
		var addr uint64
		if _, err := fmt.Sscanf(call.Target, "0x%x", &addr); err != nil {
			return nil
		}
		few--
		g, err := in.Binary.Graph(ctx, tool, addr, own || few < 0)
		if err != nil || len(g.Insts) == 0 || g.Insts[0].Addr != addr || len(g.Insts) > maxCallee {
			return nil // counted as a call of unknown code
		}
		if len(g.Loops) > 0 && !rates.anyKnown(g) {
			return nil
		}
		return g
	}
	return code, nil
}

// anyKnown reports whether anything is known of the branches of a function.
func (r *Rates) anyKnown(g *flow.Graph) bool {
	if r.Branch == nil {
		return false
	}
	for i := range g.Insts {
		if g.Insts[i].Kind != disasm.Conditional {
			continue
		}
		if _, ok := r.Branch(g, i); ok {
			return true
		}
	}
	return false
}

// maxObjdump is how many callees are disassembled by llvm-objdump, a process each.
const maxObjdump = 6

// maxCallee is the size of functions in instructions that are followed into.
const maxCallee = 512

// Heat is the share of the samples of a side by instruction, nil if it is not known.
func (in *SideInput) Heat() Heat {
	if in.Profile == nil || len(in.Profile.Weights) == 0 {
		return nil
	}
	var total float64
	for i := range in.Profile.Runs {
		total += in.Profile.Runs[i].Total.Weight
	}
	return func(g *flow.Graph, at int) float64 {
		return in.Profile.Weights[g.Insts[at].Addr] / total
	}
}
