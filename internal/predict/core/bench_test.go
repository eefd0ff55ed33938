package core

import (
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

// BenchmarkCore is the model of the core alone, in instructions.
func BenchmarkCore(b *testing.B) {
	core := Of("znver5")
	l, err := asm.Parse("movl (%rdi), %eax\naddq $4, %rdi\ncmpl %edx, %eax\ncmovl %edx, %eax\naddl %eax, %ecx\n", asm.X8664)
	if err != nil {
		b.Fatal(err)
	}
	g := flow.Of(l, l.Functions[0])
	var steps []flow.Step
	var list []*timing
	for range 2000 {
		for i := range g.Insts {
			op, _ := asm.OperationOf(asm.X8664, g.Insts[i].Text)
			steps = append(steps, flow.Step{Site: flow.Site{Graph: g, At: i}})
			list = append(list, &timing{op: op, uops: 1, cycle: 1, slots: 1, load: 4})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		core.run(steps, list, runOptions{})
	}
	b.ReportMetric(float64(len(steps)*b.N)/b.Elapsed().Seconds(), "instructions/s")
}
