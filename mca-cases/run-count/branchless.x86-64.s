	.file	"branchless.c"
	.text
	.p2align 6
	.globl	count_runs
	.type	count_runs, @function
count_runs:
	testq	%rsi, %rsi
	je	.L4
	addq	%rdi, %rsi
	xorl	%eax, %eax
	xorl	%edx, %edx
	.p2align 4,,10
	.p2align 3
.L3:
	movl	%eax, %ecx
	movzbl	(%rdi), %eax
	cmpb	%cl, %al
	setne	%cl
	addq	$1, %rdi
	movzbl	%cl, %ecx
	addq	%rcx, %rdx
	cmpq	%rdi, %rsi
	jne	.L3
	movq	%rdx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%edx, %edx
	movq	%rdx, %rax
	ret
	.size	count_runs, .-count_runs
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
