	.text
	.file	"branchless.c"
	.globl	positive_sum
	.p2align	6, 0x90
	.type	positive_sum,@function
positive_sum:
	xorl	%ecx, %ecx
	testq	%rsi, %rsi
	je	.LBB0_1
	addq	$4, %rdi
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_4:
	movl	(%rdi), %edx
	testl	%edx, %edx
	cmovsl	%ecx, %edx
	addq	%rdx, %rax
	addq	$16, %rdi
	addq	$-1, %rsi
	jne	.LBB0_4
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	positive_sum, .Lfunc_end0-positive_sum
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
