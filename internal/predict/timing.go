package predict

import (
	"math"
	"slices"

	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
)

// Limits of what an instruction takes, far beyond those that there are.
const (
	mostUops  = 256
	mostSlots = 256
)

// timingsOf are those of instructions, of which llvm-mca has simulated each once.
func (c *Core) timingsOf(arch Arch, sites []site, s *llvm.Simulation) map[site]*timing {
	out := make(map[site]*timing, len(sites))
	of := make(map[int]int, len(s.Source))
	for i, line := range s.Source {
		of[line] = i
	}
	memory := make(map[string]int)
	for i, at := range sites {
		in := &at.g.Insts[at.at]
		op, _ := operationOf(arch, in.Text)
		t := &timing{op: op, uops: 1, cycle: 1, slots: 1}
		if at, ok := of[i]; ok {
			l := s.Latencies[at]
			t.uops = min(l.Uops, mostUops)
			t.cycle = l.Latency
			if op.load {
				t.load = c.Load
				t.cycle = max(1, l.Latency-c.ModelLoad)
				if op.vector {
					t.load = c.Load + 1
				}
			}
			if op.class == classDivide {
				t.slots = int(math.Round(l.RThroughput * c.Divide))
			} else if l.RThroughput > 1 && op.class != classMultiply {
				t.slots = int(math.Round(l.RThroughput))
			}
		}
		t.slots = max(1, min(t.slots, mostSlots))
		switch op.class {
		case classLea:
			t.cycle, t.slots = c.Lea, 1
			if op.components >= 3 {
				t.cycle = c.LeaThree
				t.slots = 3
			}
		case classSelect:
			t.slots, t.cycle = 1, 1
			if op.flags == 2 {
				t.slots, t.uops = 2, 2
			}
		case classBranch, classSet, classALU, classShift:
			t.slots = 1
			if op.class != classALU || op.load && op.store {
				t.cycle = 1
			}
		}
		if op.memory != "" {
			id, ok := memory[op.memory]
			if !ok {
				id = len(memory) + 1
				memory[op.memory] = id
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
func (c *Core) fuse(arch Arch, all map[site]*timing, at site, t *timing) {
	in := &at.g.Insts[at.at]
	if before := all[site{at.g, at.at - 1}]; before != nil && in.Kind == disasm.Conditional && arch == X8664 {
		if name, _ := mnemonic(arch, in.Text); fuses(&at.g.Insts[at.at-1], name) {
			t.fused = true
			if before.op.class == classALU {
				before.op.class = classBranch
			}
		}
	}
	after := all[site{at.g, at.at + 1}]
	if !c.MoveFusion || after == nil || at.g.blockOf[at.at] != at.g.blockOf[at.at+1] {
		return
	}
	if a, b := &t.op, &after.op; a.free && len(a.reads) == 1 && len(a.writes) == 1 && b.class <= classShift && !b.load && !b.store &&
		slices.Contains(b.reads, a.writes[0]) && slices.Contains(b.writes, a.writes[0]) {
		t.fused = true
	}
}
