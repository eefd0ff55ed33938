	.file	"branchless.c"
	.text
	.p2align 6
	.globl	round_all
	.type	round_all, @function
round_all:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi,%rax,4), %ecx
	movl	%ecx, %r9d
	movzbl	%cl, %ecx
	sarl	$8, %r9d
	movl	%r9d, %r8d
	andl	$1, %r8d
	addl	%r8d, %ecx
	cmpl	$128, %ecx
	setg	%cl
	movzbl	%cl, %ecx
	addl	%r9d, %ecx
	movw	%cx, (%rdx,%rax,2)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L3
.L1:
	ret
	.size	round_all, .-round_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
