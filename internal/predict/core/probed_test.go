package core

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/probe"
)

var sapphireRapids = llvm.Model{CPU: "emeraldrapids", Name: "SapphireRapids", Width: 6, ReorderBuffer: 512, MispredictPenalty: 14}

// TestFromProbes checks what a core is made of when nothing but the probes of a
// calibration is known.
func TestFromProbes(t *testing.T) {
	c, err := FromProbes(asm.X8664, "emeraldrapids", sapphireRapids, Of("emeraldrapids").Probes, nil)
	if err != nil {
		t.Fatal(err)
	}
	type numbers struct {
		Dispatch, Window, Pipes, Loads, VectorLoads, Stores            int
		Load, Forward, Cycles, Modify, Taken, Refill, Select, CMovBE   float64
		DivideLatency, DivideSlots, ScaledLea, ScaledSlots, ShiftUops  float64
		OverflowApart, Move64, Zero, AddConstant, Shifts2, Multiplies1 bool
	}
	got := numbers{
		c.Dispatch, c.Window, len(c.Pipes), c.Loads, c.VectorLoads, c.Stores,
		c.Load, c.Forward, c.Forwarding.Cycles, c.Forwarding.Modify, c.TakenPerCycle, float64(int(c.Refill)), c.Instructions["select"].Slots, c.Instructions["select two"].Slots,
		c.Instructions["div32"].Latency, c.Instructions["div32"].Slots, c.Instructions["lea scaled"].Latency, c.Instructions["lea scaled"].Slots, float64(c.Instructions["shl cl"].Uops),
		c.OverflowApart, c.renames(Move64), c.renames(Zero), c.renames(AddConstant), c.unitsOf(asm.ClassShift) == 2, c.unitsOf(asm.ClassMultiply) == 1,
	}
	want := numbers{6, 512, 5, 3, 3, 2, 5, 0, 5, 6.5, 1, 16, 1, 2, 11, 6, 2, 2, 2, false, true, true, true, true, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, m := range c.Missing {
		if strings.Contains(m, "of LLVM's model") {
			t.Errorf("all was measured, but %s", m)
		}
	}
}

// TestFromFewProbes checks that a core is made of what there is, says what is missing, and
// computes a time that is not absurd.
func TestFromFewProbes(t *testing.T) {
	all := Of("emeraldrapids").Probes
	names := slices.Sorted(maps.Keys(all))
	for from := range 2 {
		few := probe.Values{"load.latency": all["load.latency"], "add.throughput": all["add.throughput"]}
		for i := from; i < len(names); i += 2 {
			few[names[i]] = all[names[i]]
		}
		c, err := FromProbes(asm.X8664, "emeraldrapids", sapphireRapids, few, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Missing) < 15 {
			t.Errorf("half of the probes are missing, but only %q is", c.Missing)
		}
		if cycles := loopCycles(t, c, asm.X8664, "1:\nmovq (%rax),%rax\naddq $4,%rdi\ncmpq %rdi,%rsi\njne 1b\n"); cycles < 4.9 || cycles > 5.2 {
			t.Errorf("a chain of loads takes %.2f cycles", cycles)
		}
	}
	for _, name := range []string{"load.latency", "add.throughput"} {
		none := maps.Clone(all)
		delete(none, name)
		if _, err := FromProbes(asm.X8664, "emeraldrapids", sapphireRapids, none, nil); err == nil {
			t.Errorf("without %s there is a core", name)
		}
	}
	if _, err := FromProbes(asm.AArch64, "cortex-a53", llvm.Model{CPU: "cortex-a53", Width: 2}, all, nil); err == nil {
		t.Error("an in-order core is made one that is not")
	}
}

// TestFromProbesAMD makes a core of figures as they were measured on Zen 5: flags in three
// groups, two branches taken in a cycle, vectors on pipes of their own.
func TestFromProbesAMD(t *testing.T) {
	v := make(probe.Values)
	for name, c := range map[string]float64{
		"load.latency": 3.97, "add.latency": 1, "add.throughput": 0.172, "nop.throughput": 0.125, "cmp.select": 2.99, "select.throughput": 0.25, "cmovbe.throughput": 0.5,
		"shift.throughput": 0.333, "multiply.throughput": 0.333, "multiply.latency": 2.99, "load.throughput": 0.25, "load.vector.throughput": 0.5, "taken.four": 0.52, "div32.throughput": 6.05,
	} {
		v[name] = probe.Estimate{Lo: c, Centre: c, Hi: c}
	}
	c, err := FromProbes(asm.X8664, "znver5", llvm.Model{CPU: "znver5", Name: "Znver4", Width: 6, ReorderBuffer: 320, MispredictPenalty: 13}, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Dispatch != 8 || len(c.Pipes) != 6 || c.Load != 4 || c.Loads != 4 || c.VectorLoads != 2 || c.TakenPerCycle != 2 || !c.OverflowApart || c.unitsOf(asm.ClassSelect) != 4 ||
		c.pipes[asm.ClassVector] != 0 || c.Window != 320 || c.Refill != 15 || c.Instructions["select two"].Slots != 2 || c.Instructions["div32"].Slots != 6 {
		t.Errorf("%+v", c)
	}
}

// loopCycles is what an iteration of a loop takes if each instruction is what probes
// told, and else one cycle.
func loopCycles(t *testing.T, c *Core, arch asm.Arch, text string) float64 {
	t.Helper()
	g, way := firstLoop(t, text, arch, 0, 4000)
	timings := c.TimingsOf(arch, flow.Sites(way), &llvm.Simulation{})
	n := float64(len(way.Steps)) / float64(len(way.Units))
	if g == nil || n == 0 {
		t.Fatal("no loop")
	}
	return c.Schedule(way, timings, nil, 0, false).Cycles(Costs{}) * n
}

// probesA64 are figures as a core has them that adds on three pipes of four, with two
// shifts, one multiplication and two loads a cycle. They are made up.
func probesA64() probe.Values {
	v := make(probe.Values)
	for name, c := range map[string]float64{
		"add.latency": 1, "add.throughput": 0.333, "nop.throughput": 0.25, "mix.throughput": 0.25, "sub.latency": 1, "and.latency": 1, "or.latency": 1, "xor.latency": 1,
		"load.latency": 4, "load.throughput": 0.5, "load.vector.throughput": 0.5, "store.four.throughput": 0.5, "shift.throughput": 0.5, "shift.latency": 1,
		"select.latency": 1, "select.throughput": 0.333, "csinc.latency": 1, "set.throughput": 0.333, "multiply.latency": 3, "multiply.throughput": 1,
		"multiply.accumulate.latency": 1, "add.shifted2.latency": 2, "div32.small.latency": 6, "div32.throughput": 5, "div64.small.latency": 6, "div64.throughput": 5,
		"branch.nottaken.throughput": 1, "taken.one": 1, "taken.four": 1, "call.return": 3, "forward.index.latency": 5, "forward.same.latency": 5, "forward.wide.latency": 15,
		"add.memory.latency": 6, "move64.latency": 1, "move32.latency": 1, "add.immediate.latency": 1, "xor.zero": 10, "vector.add.throughput": 0.5, "float.add.throughput": 0.5,
		"float.add.latency": 2, "vector.add.latency": 2, probe.MissRegister: 13, probe.MissLoad: 17, probe.MissTwoLoads: 21,
	} {
		v[name] = probe.Estimate{Lo: c, Centre: c, Hi: c}
	}
	return v
}

// TestFromProbesA64 makes a core of a calibration of AArch64 and runs loops on it.
func TestFromProbesA64(t *testing.T) {
	c, err := FromProbes(asm.AArch64, "neoverse-n1", llvm.Model{CPU: "neoverse-n1", Name: "NeoverseN1", Width: 4, ReorderBuffer: 128, MispredictPenalty: 11}, probesA64(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Dispatch != 4 || len(c.Pipes) != 3 || c.Window != 128 || c.Refill != 11 || c.renames(Move64) || c.renames(AddConstant) || c.Forward != 5 || c.Forwarding.Renamed != 0 {
		t.Errorf("%+v", c)
	}
	const end = "add x0,x0,4\ncmp x0,x1\nbne 1b\n"
	for _, test := range []struct {
		name, loop string
		lo, hi     float64 // what competes for pipes takes more than their number says
	}{
		{"nothing", "1:\n" + end, 1, 1.05},
		{"width", "1:\nldr w3,[x0]\neor w4,w3,w5\nand w6,w3,w5\nmov w7,w5\norr w8,w3,w5\n" + end, 2.33, 2.8}, // seven for three pipes
		{"multiplications", "1:\nldr w3,[x0]\nmul w4,w4,w3\n" + end, 2.9, 3.1},
		{"sums", "1:\nldr w3,[x0]\nmadd w4,w3,w5,w4\n" + end, 1.33, 1.7},
		{"shifted", "1:\nadd x4,x5,x4,lsl 2\n" + end, 1.9, 2.1},
		{"divisions", "1:\nldr w3,[x0]\nudiv w4,w3,w5\n" + end, 4.9, 5.1},
		{"pointers", "1:\nldr x4,[x4]\n" + end, 3.9, 4.1},
		{"selection behind a load", "1:\nldr x4,[x2,x4,lsl 3]\ncmp x4,x5\ncsel x4,x6,x4,lt\n" + end, 5.9, 6.3},
	} {
		if got := loopCycles(t, c, asm.AArch64, test.loop); got < test.lo-0.01 || got > test.hi {
			t.Errorf("%s: %.2f cycles, want %.2f to %.2f", test.name, got, test.lo, test.hi)
		}
	}
}

// TestForms checks that each form of the table is that of an instruction.
func TestForms(t *testing.T) {
	all, err := formsOf()
	if err != nil {
		t.Fatal(err)
	}
	for arch, forms := range all {
		known := make(map[string]bool)
		for _, p := range probe.Table(arch) {
			known[p.Name] = true
		}
		for _, f := range forms {
			for _, name := range []string{f.latency, f.without, f.throughput} {
				if name != "" && !known[name] {
					t.Errorf("%s: %s: there is no probe %s", arch, strings.Join(f.names, ", "), name)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"imull %edx, %eax": "imul", "mulq %rbx": "mul", "divl %ecx": "div32", "idivq %rcx": "div64", "shll %cl, %eax": "shl cl", "shrq $3, %rax": "shr", "leaq (%rax,%rbx,4), %rcx": "lea scaled",
		"leaq 8(%rax,%rbx), %rcx": "lea three", "leaq (%rax,%rbx), %rcx": "lea", "cmovbe %eax, %ebx": "select two", "cmovg %eax, %ebx": "select", "seta %al": "set two", "vaddsd %xmm0, %xmm1, %xmm2": "addsd",
	} {
		op, _ := asm.OperationOf(asm.X8664, text)
		if got := formOf(asm.X8664, text, &timing{op: op, groups: Of("emeraldrapids").groups(&op)}); got != want {
			t.Errorf("%s: form %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"add x0, x1, x2, lsl #2": "add shifted", "add x0, x1, w2, uxtw": "add extended", "add x0, x1, x2": "add", "lsl x0, x1, #3": "lsl", "lsl x0, x1, x2": "lsl register", "udiv w0, w1, w2": "div32",
		"sdiv x0, x1, x2": "div64", "add v0.4s, v1.4s, v2.4s": "vector add", "cset w0, lt": "cset",
	} {
		op, _ := asm.OperationOf(asm.AArch64, text)
		if got := formOf(asm.AArch64, text, &timing{op: op}); got != want {
			t.Errorf("%s: form %q, want %q", text, got, want)
		}
	}
}
