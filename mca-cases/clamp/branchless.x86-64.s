	.file	"branchless.c"
	.text
	.p2align 6
	.globl	clamp_all
	.type	clamp_all, @function
clamp_all:
	movq	%rdi, %r9
	testq	%rsi, %rsi
	je	.L1
	xorl	%edi, %edi
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%r9,%rdi,4), %eax
	cmpl	%edx, %eax
	cmovl	%edx, %eax
	cmpl	%ecx, %eax
	cmovg	%ecx, %eax
	movl	%eax, (%r8,%rdi,4)
	addq	$1, %rdi
	cmpq	%rdi, %rsi
	jne	.L3
.L1:
	ret
	.size	clamp_all, .-clamp_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
