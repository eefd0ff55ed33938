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
	// Branches are what is known of the branches of the binary, of each recording that tells.
	Branches []*branch.Table
	note     string // on where they are from
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
		if !g.OnlyRetries() && !rates.anyKnown(g) {
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
