	.text
	.file	"branchy.c"
	.globl	spread
	.p2align	6, 0x90
	.type	spread,@function
spread:
	xorpd	%xmm0, %xmm0
	testq	%rsi, %rsi
	je	.LBB0_5
	xorl	%eax, %eax
	xorpd	%xmm1, %xmm1
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_3:
	movsd	(%rdi,%rax,8), %xmm1
.LBB0_8:
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.LBB0_4
.LBB0_2:
	movsd	(%rdi,%rax,8), %xmm2
	ucomisd	%xmm2, %xmm1
	ja	.LBB0_3
	ucomisd	%xmm0, %xmm2
	jbe	.LBB0_8
	movsd	(%rdi,%rax,8), %xmm0
	jmp	.LBB0_8
.LBB0_4:
	subsd	%xmm1, %xmm0
.LBB0_5:
	retq
.Lfunc_end0:
	.size	spread, .Lfunc_end0-spread
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
