	.text
	.file	"branchless.c"
	.globl	spread
	.p2align	6, 0x90
	.type	spread,@function
spread:
	testq	%rsi, %rsi
	je	.LBB0_1
	xorpd	%xmm1, %xmm1
	xorl	%eax, %eax
	xorpd	%xmm0, %xmm0
	.p2align	4, 0x90
.LBB0_5:
	movapd	%xmm0, %xmm2
	movapd	%xmm1, %xmm3
	movsd	(%rdi,%rax,8), %xmm0
	movapd	%xmm0, %xmm1
	minsd	%xmm3, %xmm1
	maxsd	%xmm2, %xmm0
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.LBB0_5
	subsd	%xmm1, %xmm0
	retq
.LBB0_1:
	xorps	%xmm0, %xmm0
	retq
.Lfunc_end0:
	.size	spread, .Lfunc_end0-spread
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
