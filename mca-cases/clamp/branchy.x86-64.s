	.file	"branchy.c"
	.text
	.p2align 6
	.globl	clamp_all
	.type	clamp_all, @function
clamp_all:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L11:
	movl	%edx, %r9d
.L4:
	movl	%r9d, (%r8,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.L1
.L5:
	movl	(%rdi,%rax,4), %r9d
	cmpl	%edx, %r9d
	jl	.L11
	cmpl	%ecx, %r9d
	jle	.L4
	movl	%ecx, %r9d
	movl	%r9d, (%r8,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L5
.L1:
	ret
	.size	clamp_all, .-clamp_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
