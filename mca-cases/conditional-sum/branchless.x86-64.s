	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_below
	.type	sum_below, @function
sum_below:
	testq	%rsi, %rsi
	je	.L5
	leaq	(%rdi,%rsi,4), %r8
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L4:
	movslq	(%rdi), %rax
	movq	%rax, %rsi
	addq	%rcx, %rax
	cmpl	%edx, %esi
	cmovl	%rax, %rcx
	addq	$4, %rdi
	cmpq	%r8, %rdi
	jne	.L4
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	sum_below, .-sum_below
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
