	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_values
	.type	sum_values, @function
sum_values:
	movq	%rdi, %r9
	movl	%esi, %r10d
	testq	%rcx, %rcx
	je	.L6
	xorl	%esi, %esi
	xorl	%r8d, %r8d
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L3:
	movl	12(%rax), %eax
	addq	$1, %rsi
	addq	%rax, %r8
	cmpq	%rsi, %rcx
	je	.L1
.L5:
	movl	(%rdx,%rsi,4), %edi
	movl	%edi, %eax
	andl	%r10d, %eax
	salq	$4, %rax
	addq	%r9, %rax
	cmpl	(%rax), %edi
	jne	.L3
	movl	8(%rax), %eax
	addq	$1, %rsi
	addq	%rax, %r8
	cmpq	%rsi, %rcx
	jne	.L5
.L1:
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	sum_values, .-sum_values
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
