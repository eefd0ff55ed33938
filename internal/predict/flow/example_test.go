package flow_test

import (
	"fmt"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

// A loop whose branch is taken in a quarter of the units goes two ways.
func ExampleWalk() {
	l, err := asm.Parse(`
.L1:	movl	(%rdi), %eax
	testl	%eax, %eax
	je	.L2
	addl	%eax, %ecx
.L2:	addq	$4, %rdi
	cmpq	%rsi, %rdi
	jne	.L1
	ret
`, asm.X8664)
	if err != nil {
		panic(err)
	}
	code := flow.CodeOf(l, l.Functions[0])
	branch := func(s flow.Site) flow.Branch {
		if s.Inst().Target == ".L2" {
			return flow.Branch{Taken: 0.25}
		}
		return flow.Branch{Taken: 1}
	}
	t := flow.Walk(code, branch, 1, 0, flow.Limits{Steps: 10000, Units: 400})
	for _, w := range t.Ways() {
		fmt.Printf("%d instructions in %.0f%% of the units\n", len(w.Steps), 100*w.Share)
	}
	// Output:
	// 7 instructions in 75% of the units
	// 6 instructions in 25% of the units
}
