	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_quotients
	.type	sum_quotients, @function
sum_quotients:
	movq	%rdx, %r9
	testq	%rdx, %rdx
	je	.L5
	xorl	%ecx, %ecx
	xorl	%r10d, %r10d
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rsi,%rcx,4), %r8d
	testl	%r8d, %r8d
	je	.L3
	movl	(%rdi,%rcx,4), %eax
	xorl	%edx, %edx
	divl	%r8d
	addq	%rax, %r10
.L3:
	addq	$1, %rcx
	cmpq	%rcx, %r9
	jne	.L4
	movq	%r10, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r10d, %r10d
	movq	%r10, %rax
	ret
	.size	sum_quotients, .-sum_quotients
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
