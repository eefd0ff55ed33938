package asm_test

import (
	"fmt"

	"profdiff/internal/asm"
)

func ExampleParse() {
	l, err := asm.Parse(`
sum:
.L2:	addl	(%rdi), %eax
	addq	$4, %rdi
	cmpq	%rsi, %rdi
	jne	.L2
	ret
`, "")
	if err != nil {
		panic(err)
	}
	for _, in := range l.Insts {
		fmt.Println(in.Line, in.Kind, in.Text)
	}
	// Output:
	// 3 other addl (%rdi), %eax
	// 4 other addq $4, %rdi
	// 5 other cmpq %rsi, %rdi
	// 6 conditional jne .L2
	// 7 return ret
}

func ExampleOperationOf() {
	op, known := asm.OperationOf(asm.X8664, "addl 8(%rdi,%rcx,4), %eax")
	fmt.Println(op.Memory, op.Load, op.Store, known)
	// Output: 8(%rdi,%rcx,4) true false true
}
