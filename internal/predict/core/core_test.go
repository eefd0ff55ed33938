package core

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
)

// TestCoreMeasured compares the model of a core with what a machine with that core was
// measured to take: a sequence again and again.
func TestCoreMeasured(t *testing.T) {
	tool, err := llvm.Find(t.Context(), "")
	if err != nil {
		t.Skip(err)
	}
	for _, of := range []struct {
		cpu   string
		tests []measuredCode
		limit float64
	}{{"znver5", znver5Measured, 1.12}, {"emeraldrapids", emeraldRapidsMeasured, 1.12}, {"emeraldrapids", emeraldRapidsRough, 1.4}} {
		for _, test := range of.tests {
			t.Run(of.cpu+"/"+test.name, func(t *testing.T) { test.compare(t, tool, of.cpu, of.limit) })
		}
	}
}

// znver5Measured was measured on an AMD EPYC of family 26, model 2.
var znver5Measured = []measuredCode{
	{"add", "addq $1, %rax", 1.00},
	{"two flags", "cmpl %edx, %eax; cmovg %edx, %eax", 2.99},
	{"one flag", "cmpl %edx, %eax; cmovb %edx, %eax", 2.00},
	{"setcc keeps the rest", "cmpl %edx, %eax; setl %al", 1.99},
	{"carry", "adcl $0, %eax", 1.00},
	{"borrow of itself", "cmpl %edx, %eax; sbbl %eax, %eax", 1.97},
	{"scaled lea", "leaq (%rdx,%rax,4), %rax", 1.00},
	{"lea of three", "leaq 8(%rax,%rdx), %rax", 2.00},
	{"multiplication", "imulq %rdx, %rax", 2.99},
	{"load", "movq (%rdi), %rdi", 3.97},
	{"load with index", "movq (%rdi,%r8,8), %rdi", 3.98},
	{"sign extension of a load", "movslq (%rdi,%r8), %r8; andl $0, %r8d", 5.78},
	{"six chains", "addl $1, %eax; addl $1, %ebx; addl $1, %ecx; addl $1, %r8d; addl $1, %r9d; addl $1, %r10d", 1.29},
	{"independent", "leal 1(%rdx), %eax; leal 1(%rdx), %ebx; leal 1(%rdx), %ecx; leal 1(%rdx), %r8d; leal 1(%rdx), %r9d; leal 1(%rdx), %r10d", 1.01},
	{"loads", "movq (%rdi), %rax; movq 8(%rdi), %rbx; movq 16(%rdi), %rcx; movq 24(%rdi), %r8", 1.00},
	{"stores", "movq %rax, (%rdi); movq %rax, 8(%rdi); movq %rax, 16(%rdi); movq %rax, 24(%rdi)", 2.00},
	{"a store beside operations", "leal 1(%rdi), %eax; leal 1(%rdi), %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leal 1(%rdi), %r11d; leal 1(%rdi), %ebx; movl %esi, (%rdx)", 1.21},
	{"two stores", "leal 1(%rdi), %eax; leal 1(%rdi), %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leal 1(%rdi), %r11d; leal 1(%rdi), %ebx; movl %esi, (%rdx); movl %esi, 4(%rdx)", 1.38},
	{"a store of the operation before", "leal 1(%rdi), %eax; leal 1(%rdi), %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leal 1(%rdi), %r11d; leal 1(%rdi), %ebx; addl $1, (%rdx)", 1.20},
	{"a store of a vector", "leal 1(%rdi), %eax; leal 1(%rdi), %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leal 1(%rdi), %r11d; leal 1(%rdi), %ebx; movups %xmm0, (%rdx)", 1.01},
	{"four setcc", "setne %al; setne %r8b; setne %r9b; setne %r10b; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.40},
	{"five setcc", "setne %al; setne %r8b; setne %r9b; setne %r10b; setne %r11b; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.76},
	{"six setcc", "setne %al; setne %r8b; setne %r9b; setne %r10b; setne %r11b; setne %bl; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 2.25},
	{"four cmov", "cmovb %edi, %eax; cmovb %edi, %r8d; cmovb %edi, %r9d; cmovb %edi, %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.40},
	{"six cmov", "cmovb %edi, %eax; cmovb %edi, %r8d; cmovb %edi, %r9d; cmovb %edi, %r10d; cmovb %edi, %r11d; cmovb %edi, %ebx; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 2.25},
	{"two setcc and others", "setne %al; setne %r8b; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.14},
	{"cmov of two flags", "cmovg %edi, %eax; leal 1(%rdi), %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.26},
	{"two cmov of two flags", "cmovg %edi, %eax; cmovg %edi, %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.57},
	{"three cmov of two flags", "cmovg %edi, %eax; cmovg %edi, %r8d; cmovg %edi, %r9d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 2.03},
	{"operations on memory", "addl (%rdx), %eax; addl (%rdx), %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.08},
	{"four chains and a counter", "addl $1, %eax; addl $1, %r8d; addl $1, %r9d; addl $1, %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.29},
	{"three chains and a counter", "addl $1, %eax; addl $1, %r8d; addl $1, %r9d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.13},
	{"two chains, others and a counter", "addl $1, %eax; addl $1, %r8d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.09},
	{"others and a counter", "leal 1(%rdi), %r8d; leal 1(%rdi), %r11d; leal 1(%rdi), %r9d; leal 1(%rdi), %r10d; leaq -1(%rsi), %rsi; testq %rsi, %rsi; jne 1f; 1:", 1.01},
	{"shifts", "shll $1, %eax; shll $1, %ebx; shll $1, %ecx; shll $1, %r8d; shll $1, %r9d; shll $1, %r10d; shll $1, %r11d; shll $1, %r12d", 2.67},
	{"zeroing", "xorl %eax, %eax; xorl %ebx, %ebx; xorl %ecx, %ecx; xorl %r8d, %r8d; xorl %r9d, %r9d; xorl %r10d, %r10d; xorl %r11d, %r11d; xorl %r12d, %r12d", 1.05},
	{"fused branches", "cmpl %eax, %edx; je 1f; 1: cmpl %ebx, %edx; je 2f; 2: cmpl %ecx, %edx; je 3f; 3:", 1.04},
}

// emeraldRapidsMeasured was measured on an Intel Xeon of family 6, model 207.
var emeraldRapidsMeasured = []measuredCode{
	{"add", "addq %rdx, %rax", 1.00},
	{"loop of 5", "leaq (%rbx,%rbp), %r8; leaq (%rbx,%rbp), %r9; leaq (%rbx,%rbp), %r10; leaq (%rbx,%rbp), %r11; subq $1, %rsi; jne 1f; 1:", 1.00},
	{"loop of 6", "leaq (%rbx,%rbp), %r8; leaq (%rbx,%rbp), %r9; leaq (%rbx,%rbp), %r10; leaq (%rbx,%rbp), %r11; leaq (%rbx,%rbp), %r12; subq $1, %rsi; jne 1f; 1:", 1.20},
	{"two cmov and a branch", "cmovb %esi, %eax; cmovb %esi, %ebx; subq $1, %r15; jne 1f; 1:", 1.665},
	{"three cmov and a branch", "cmovb %esi, %eax; cmovb %esi, %ebx; cmovb %esi, %ecx; subq $1, %r15; jne 1f; 1:", 2.203},
	{"four leas and cmova", "cmova %ebx, %eax; leaq (%rbx,%rbp), %r8; leaq (%rbx,%rbp), %r9; leaq (%rbx,%rbp), %r10; leaq (%rbx,%rbp), %r11", 1.207},
	{"four leas and an operation on memory", "addl 8(%rdi), %eax; leaq (%rbx,%rbp), %r8; leaq (%rbx,%rbp), %r9; leaq (%rbx,%rbp), %r10; leaq (%rbx,%rbp), %r11", 1.006},
	{"four leas and a store", "movl %eax, 8(%rdi); leaq (%rbx,%rbp), %r8; leaq (%rbx,%rbp), %r9; leaq (%rbx,%rbp), %r10; leaq (%rbx,%rbp), %r11", 0.838},
	{"additions of constants", "addq $8, %rax", 0.169},
	{"additions of constants to half a register", "addl $8, %eax", 0.99},
	{"comparison and branches", "cmpl %eax, %ebx; jne 1f; 1: cmpl %ecx, %ebx; jne 2f; 2:", 1.00},
	{"two flags", "cmpl %edx, %eax; cmovg %edx, %eax", 1.98},
	{"two groups", "cmpl %edx, %eax; cmova %edx, %eax", 2.97},
	{"conditional moves of two groups", "cmovbe %ebx, %eax; cmovbe %ebx, %ecx; cmovbe %ebx, %edx; cmovbe %ebx, %esi", 4.02},
	{"sets of two groups", "setbe %al; setbe %bl; setbe %cl; setbe %dl", 4.04},
	{"load and select", "movl 8(%rdi,%rax,4), %eax; cmpl %ebx, %eax; cmovb %ecx, %eax", 6.93},
	{"loads by their values", "movslq 8(%rdi,%rax,4), %rax", 5.94},
	{"scaled lea", "leaq (%rax,%rbx,4), %rax", 1.98},
	{"set and what it keeps", "setl %cl; movzbl %cl, %ecx; subl %ecx, %esi; leal (%rcx,%rsi,2), %ecx; movslq %ecx, %rcx; shrq $63, %rcx", 6.92},
	{"division", "movl %r8d, %eax; xorl %edx, %edx; divl %ecx", 5.93},
	{"multiplications and shifts", "imull %esi, %eax; shll $1, %ebx; shll $1, %ecx", 2.965},
	{"chain of 60 additions", "xorl %eax, %eax" + strings.Repeat("; addq %rbx, %rax", 60), 21.5},
	{"chain of 100 additions", "xorl %eax, %eax" + strings.Repeat("; addq %rbx, %rax", 100), 44.1},
	{"chain of 150 additions", "xorl %eax, %eax" + strings.Repeat("; addq %rbx, %rax", 150), 77.7},
	{"chain of 200 additions", "xorl %eax, %eax" + strings.Repeat("; addq %rbx, %rax", 200), 116.5},
	{"chain of 60 loads", "movq %rdi, %rax" + strings.Repeat("; movq (%rax), %rax", 60), 102.5},
	{"chain of 100 loads", "movq %rdi, %rax" + strings.Repeat("; movq (%rax), %rax", 100), 234.7},
	{"60 multiplications and 200 copies", "xorl %eax, %eax" + strings.Repeat("; imull %eax, %eax", 60) + strings.Repeat("; movq %r8, %r9", 200), 76.2},
	{"60 multiplications and 300 copies", "xorl %eax, %eax" + strings.Repeat("; imull %eax, %eax", 60) + strings.Repeat("; movq %r8, %r9", 300), 109.3},
}

// emeraldRapidsRough was measured there, too: what competes for pipes and waits in
// chains, and short chains of loads. The model is up to 40 % off.
var emeraldRapidsRough = []measuredCode{
	{"three additions and two shifts", "addl %esi, %eax; addl %esi, %r8d; addl %esi, %r9d; shll $1, %ebx; shll $1, %ecx", 1.347},
	{"two shifts and an extension", "cltq; shll $1, %ebx; shll $1, %ecx", 1.146},
	{"three vectors and two", "paddd %xmm0, %xmm1; paddd %xmm0, %xmm2; paddd %xmm0, %xmm3; addl %esi, %r8d; addl %esi, %r9d", 1.338},
	{"two vectors and four", "paddd %xmm0, %xmm1; paddd %xmm0, %xmm2; addl %esi, %r8d; addl %esi, %r9d; addl %esi, %eax; addl %esi, %ebx", 1.571},
	{"four leas and a constant", "addq $8, %rax; leaq (%rbx,%rbp), %r8; leaq (%rbx,%rbp), %r9; leaq (%rbx,%rbp), %r10; leaq (%rbx,%rbp), %r11", 0.976},
	{"chain of 20 loads", "movq %rdi, %rax" + strings.Repeat("; movq (%rax), %rax", 20), 17.6},
	{"chains of 30 loads and additions", "movq %rdi, %rax" + strings.Repeat("; movq (%rax), %rax; addq %rbx, %rax", 30), 40.7},
	{"absolute value", "movl %ebx, %eax; cltd; xorl %edx, %eax; subl %edx, %eax; cltq; addq %rax, %rcx; subq $1, %r15; jne 1f; 1:", 1.357},
	{"60 additions and 60 of vectors", "xorl %eax, %eax; pxor %xmm0, %xmm0" + strings.Repeat("; addq %rbx, %rax; paddd %xmm1, %xmm0", 60), 38.6},
}

// A measuredCode is a sequence with the cycles that it takes again and again.
type measuredCode struct {
	name, code string
	cycles     float64
}

// compare compares the model of a core with what was measured.
func (test *measuredCode) compare(t *testing.T, tool *llvm.Toolchain, cpu string, limit float64) {
	core := Of(cpu)
	l, err := asm.Parse(strings.ReplaceAll(test.code, ";", "\n")+"\nnop\n", asm.X8664)
	if err != nil {
		t.Fatal(err)
	}
	g := flow.Of(l, l.Functions[0])
	n := len(g.Insts) - 1 // without the nop, which a last label stands at
	tr := &flow.Trace{}
	for range max(60, min(400, 8000/n)) {
		for i := range n {
			tr.Steps = append(tr.Steps, flow.Step{Site: flow.Site{Graph: g, At: i}})
		}
	}
	region, sites := Region(asm.X8664, test.name, []*flow.Trace{tr})
	s, err := tool.Simulate(t.Context(), llvm.Options{Triple: string(asm.X8664), CPU: cpu, Iterations: 1}, []llvm.Region{region})
	if err != nil {
		t.Fatal(err)
	}
	timings := core.TimingsOf(asm.X8664, sites, &s[0])
	list := make([]*timing, len(tr.Steps))
	for i := range tr.Steps {
		list[i] = timings[tr.Steps[i].Site]
	}
	got := steadyCycles(core.run(tr.Steps, list, runOptions{})) * float64(n)
	if math.Abs(math.Log(got/test.cycles)) > math.Log(limit) {
		t.Errorf("%.2f cycles, measured %.2f", got, test.cycles)
	} else {
		t.Logf("%.2f cycles, measured %.2f", got, test.cycles)
	}
}

// TestMisprediction checks that a misprediction costs the refill and the time until the
// branch is executed, and nothing that other work covers.
func TestMisprediction(t *testing.T) {
	core := Of("znver5")
	l, err := asm.Parse("movl (%rdi), %eax\naddq $4, %rdi\ncmpl %edx, %eax\njge 1f\n1: nop\n", asm.X8664)
	if err != nil {
		t.Fatal(err)
	}
	g := flow.Of(l, l.Functions[0])
	var list []*timing
	var steps []flow.Step
	for k := range 200 {
		for i := range g.Insts {
			op, _ := asm.OperationOf(asm.X8664, g.Insts[i].Text)
			tm := &timing{op: op, uops: 1, cycle: 1, slots: 1}
			if op.Load {
				tm.load = 4
			}
			list = append(list, tm)
			steps = append(steps, flow.Step{Site: flow.Site{Graph: g, At: i}, Miss: i == 3 && k%4 == 3})
		}
	}
	without := steadyCycles(core.run(steps, list, runOptions{})) * float64(len(g.Insts))
	with := steadyCycles(core.run(steps, list, runOptions{Costs: Costs{Misses: true}})) * float64(len(g.Insts))
	cost := (with - without) * 4
	// The load takes 4 cycles, comparison and branch one each, dispatch one.
	if cost < core.Refill+4 || cost > core.Refill+9 {
		t.Errorf("a misprediction costs %.1f cycles, refill is %g", cost, core.Refill)
	}
}

func TestUnits(t *testing.T) {
	p := newPorts(2)
	var got []float64
	for range 5 {
		got = append(got, p.issue(2.5))
	}
	if diff := cmp.Diff([]float64{3, 3, 4, 4, 5}, got); diff != "" {
		t.Error(diff)
	}
	var h times
	for _, v := range []float64{5, 1, 4, 1, 3} {
		h.push(v)
	}
	got = nil
	for len(h) > 0 {
		got = append(got, h.pop())
	}
	if diff := cmp.Diff([]float64{1, 1, 3, 4, 5}, got); diff != "" {
		t.Error(diff)
	}
}
