	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_values
	.type	sum_values, @function
sum_values:
	movl	%esi, %r8d
	testq	%rcx, %rcx
	je	.L4
	leaq	(%rdx,%rcx,4), %r9
	xorl	%esi, %esi
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdx), %ecx
	movl	%ecx, %eax
	andl	%r8d, %eax
	salq	$4, %rax
	addq	%rdi, %rax
	cmpl	%ecx, (%rax)
	setne	%cl
	addq	$4, %rdx
	movzbl	%cl, %ecx
	movl	8(%rax,%rcx,4), %eax
	addq	%rax, %rsi
	cmpq	%rdx, %r9
	jne	.L3
	movq	%rsi, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%esi, %esi
	movq	%rsi, %rax
	ret
	.size	sum_values, .-sum_values
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
