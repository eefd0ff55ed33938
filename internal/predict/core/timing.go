package core

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
)

// Limits of what an instruction takes, far beyond those that there are.
const (
	mostUops  = 256
	mostSlots = 256
)

// Timings are how long the operations of instructions take.
type Timings map[flow.Site]*timing

// TimingsOf makes the timings of instructions, of which llvm-mca has simulated each once.
func (c *Core) TimingsOf(arch asm.Arch, sites []flow.Site, s *llvm.Simulation) Timings {
	out := make(Timings, len(sites))
	memory := make(map[string]int)
	for i, at := range sites {
		in := at.Inst()
		op, _ := asm.OperationOf(arch, in.Text)
		t := &timing{op: op, uops: 1, cycle: 1, slots: 1}
		if l, ok := s.OfLine(i); ok {
			t.uops = min(l.Uops, mostUops)
			t.cycle = l.Latency
			if op.Load {
				t.load = c.Load
				t.cycle = max(1, l.Latency-c.ModelLoad)
				if op.Vector {
					t.load = c.Load + 1
				}
			}
			if op.Class == asm.ClassDivide {
				t.slots = int(math.Round(l.RThroughput * c.Divide))
			} else if l.RThroughput > 1 && op.Class != asm.ClassMultiply {
				t.slots = int(math.Round(l.RThroughput))
			}
		}
		t.slots = max(1, min(t.slots, mostSlots))
		switch op.Class {
		case asm.ClassLea:
			t.cycle, t.slots = c.Lea, 1
			if op.Components >= 3 {
				t.cycle = c.LeaThree
				t.slots = 3
			}
		case asm.ClassSelect:
			t.slots, t.cycle = 1, 1
			if op.Flags == 2 {
				t.slots, t.uops = 2, 2
			}
		case asm.ClassBranch, asm.ClassSet, asm.ClassALU, asm.ClassShift:
			t.slots = 1
			if op.Class != asm.ClassALU || op.Load && op.Store {
				t.cycle = 1
			}
		}
		if op.Memory != "" {
			id, ok := memory[op.Memory]
			if !ok {
				id = len(memory) + 1
				memory[op.Memory] = id
			}
			t.memory = id
		}
		out[at] = t
	}
	for _, at := range sites {
		c.fuse(arch, out, at, out[at])
	}
	return out
}

// fuse joins instructions that decoders make one operation of.
func (c *Core) fuse(arch asm.Arch, all Timings, at flow.Site, t *timing) {
	in := at.Inst()
	if before := all[flow.Site{Graph: at.Graph, At: at.At - 1}]; before != nil && in.Kind == disasm.Conditional && arch == asm.X8664 {
		if name, _ := asm.Mnemonic(arch, in.Text); asm.Fuses(&at.Graph.Insts[at.At-1], name) {
			t.fused = true
			if before.op.Class == asm.ClassALU {
				before.op.Class = asm.ClassBranch
			}
		}
	}
	after := all[flow.Site{Graph: at.Graph, At: at.At + 1}]
	if !c.MoveFusion || after == nil || at.Graph.BlockOf[at.At] != at.Graph.BlockOf[at.At+1] {
		return
	}
	if a, b := &t.op, &after.op; a.Free && len(a.Reads) == 1 && len(a.Writes) == 1 && b.Class <= asm.ClassShift && !b.Load && !b.Store &&
		slices.Contains(b.Reads, a.Writes[0]) && slices.Contains(b.Writes, a.Writes[0]) {
		t.fused = true
	}
}

// Region is every instruction that walks run, once, to ask what it takes.
func Region(arch asm.Arch, name string, walks []*flow.Trace) (r llvm.Region, sites []flow.Site) {
	r.Name, r.Separate = name+", instructions", true
	sites = flow.Sites(walks...)
	for _, s := range sites {
		r.Lines = append(r.Lines, cmp.Or(asm.StandIn(arch, s.Inst(), nil), "nop"))
	}
	return r, sites
}
