package core

import (
	"cmp"
	"math"
	"slices"
	"strings"

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
	modelLoad := c.Load
	if l, ok := s.OfLine(len(sites)); ok {
		modelLoad = l.Latency
	}
	for i, at := range sites {
		op, _ := asm.OperationOf(arch, at.Inst().Text)
		t := &timing{op: op, uops: 1, cycle: 1, slots: 1, groups: c.groups(&op)}
		c.rename(arch, at.Inst().Text, &t.op)
		if l, ok := s.OfLine(i); ok {
			t.modelled(&l, modelLoad)
		}
		if op.Load {
			t.load = c.Load
			if op.Vector {
				t.load = c.LoadVector
			}
		}
		c.measured(formOf(arch, at.Inst().Text, t), t)
		t.slots = max(1, min(t.slots, mostSlots))
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

// modelled takes what LLVM's model says of an instruction.
func (t *timing) modelled(l *llvm.Latency, load float64) {
	op := &t.op
	t.uops = min(l.Uops, mostUops)
	t.cycle = l.Latency
	if op.Load {
		t.cycle = max(1, l.Latency-load)
	}
	if l.RThroughput > 1 && op.Class != asm.ClassMultiply {
		t.slots = int(math.Round(l.RThroughput))
	}
	// What models of Intel's cores count apart is dispatched as one.
	switch {
	case op.Store && op.Load && t.uops >= 4:
		t.uops -= 2
	case op.Store && !op.Load && t.uops >= 2, op.Load && !op.Store && op.Class != asm.ClassNone && t.uops >= 2:
		t.uops--
	}
	switch op.Class {
	case asm.ClassLea, asm.ClassSelect, asm.ClassSet, asm.ClassBranch, asm.ClassShift:
		t.cycle, t.slots = 1, 1
	case asm.ClassALU:
		t.slots = 1
		if t.cycle = max(1, t.cycle); op.Load && op.Store {
			t.cycle = 1
		}
	}
	if t.groups > 1 && op.Class == asm.ClassSelect {
		t.slots, t.uops = 2, 2
	}
}

// groups is how many groups of flags a condition needs.
func (c *Core) groups(op *asm.Operation) int {
	if c.OverflowApart || op.Flags < 2 {
		return op.Flags
	}
	if slices.Contains(op.Reads, asm.CF) {
		return 2
	}
	return 1
}

// rename sets whether renaming does what an instruction does.
func (c *Core) rename(arch asm.Arch, text string, op *asm.Operation) {
	name, rest := asm.Mnemonic(arch, text)
	if op.Load || op.Store || op.Class == asm.ClassNone || len(op.Writes) == 0 {
		return
	}
	var r Renaming
	switch {
	case op.Free && len(op.Reads) == 0:
		r = Zero
	case op.Free && op.Vector:
		r = MoveVector
	case op.Free && (strings.Contains(rest, "%e") || strings.HasSuffix(rest, "d") || strings.HasPrefix(rest, "w")):
		r = Move32
	case op.Free:
		r = Move64
	case strings.HasPrefix(name, "movzb") && len(op.Reads) == 1 && op.Reads[0] != op.Writes[0]:
		r = ZeroExtend
	case asm.AddsConstant(arch, text):
		r = AddConstant
	default:
		return
	}
	op.Free = c.renames(r)
}

// measured takes what was measured of the form of an instruction.
func (c *Core) measured(form string, t *timing) {
	m, ok := c.Instructions[form]
	if !ok {
		return
	}
	if m.Latency > 0 {
		t.cycle = m.Latency
	}
	if m.Slots > 0 {
		t.slots = max(1, int(math.Round(m.Slots)))
	}
	if m.Uops > 0 {
		t.uops = m.Uops
	}
}

// formOf is the name that instructions are measured by: a mnemonic without width, with
// what else decides how long it takes.
func formOf(arch asm.Arch, text string, t *timing) string {
	name, rest := asm.Mnemonic(arch, text)
	op := &t.op
	if arch == asm.X8664 {
		base := asm.BaseX86(name)
		if op.Vector {
			return strings.TrimPrefix(base, "v")
		}
		switch op.Class {
		case asm.ClassLea:
			switch {
			case op.Scaled:
				return "lea scaled"
			case op.Components >= 3:
				return "lea three"
			}
		case asm.ClassSelect, asm.ClassSet:
			base = classNames[op.Class]
			if t.groups > 1 {
				base += " two"
			}
		case asm.ClassShift:
			if strings.HasPrefix(rest, "%cl,") {
				base += " cl"
			}
		case asm.ClassDivide:
			base = "div32"
			if strings.HasSuffix(name, "q") || strings.HasPrefix(rest, "%r") && !strings.HasSuffix(rest, "d") {
				base = "div64"
			}
		case asm.ClassMultiply:
			if !strings.Contains(rest, ",") {
				base = "mul"
			}
		}
		return base
	}
	switch {
	case op.Vector && strings.HasPrefix(rest, "v"):
		return "vector " + name
	case op.Class == asm.ClassDivide && strings.HasPrefix(rest, "w"):
		return "div32"
	case op.Class == asm.ClassDivide:
		return "div64"
	case strings.Contains(rest, "xtw ") || strings.HasSuffix(rest, "xtw") || strings.Contains(rest, "xtx"):
		return name + " extended"
	case op.Class == asm.ClassShift && !strings.Contains(rest, "#") && strings.ContainsAny(rest[strings.LastIndexByte(rest, ',')+1:], "xw"):
		return name + " register"
	case op.Class == asm.ClassALU && (strings.Contains(rest, "lsl ") || strings.Contains(rest, "lsr ") || strings.Contains(rest, "asr ")):
		return name + " shifted"
	}
	return name
}

// fuse joins instructions that decoders make one operation of.
func (c *Core) fuse(arch asm.Arch, all Timings, at flow.Site, t *timing) {
	in := at.Inst()
	if before := all[flow.Site{Graph: at.Graph, At: at.At - 1}]; before != nil && in.Kind == disasm.Conditional && arch == asm.X8664 {
		if name, _ := asm.Mnemonic(arch, in.Text); asm.Fuses(&at.Graph.Insts[at.At-1], name) {
			t.fused = true
			before.op.Free = false
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

// Region is every instruction that walks run, once, to ask what it takes, and a load to
// tell what part of others is theirs.
func Region(arch asm.Arch, name string, walks []*flow.Trace) (r llvm.Region, sites []flow.Site) {
	r.Name, r.Separate = name+", instructions", true
	sites = flow.Sites(walks...)
	for _, s := range sites {
		r.Lines = append(r.Lines, cmp.Or(asm.StandIn(arch, s.Inst(), nil), "nop"))
	}
	load := "movq (%rdi), %rax"
	if arch != asm.X8664 {
		load = "ldr x1, [x0]"
	}
	r.Lines = append(r.Lines, load)
	return r, sites
}
