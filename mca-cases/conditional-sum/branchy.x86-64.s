	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_below
	.type	sum_below, @function
sum_below:
	testq	%rsi, %rsi
	je	.L5
	xorl	%eax, %eax
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L4:
	movslq	(%rdi,%rax,4), %rcx
	cmpl	%edx, %ecx
	jge	.L3
	addq	%rcx, %r8
.L3:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	sum_below, .-sum_below
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
