	.text
	.file	"branchless.c"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2
.LCPI0_0:
	.long	0x3f800000
	.text
	.globl	follow
	.p2align	6, 0x90
	.type	follow,@function
follow:
	testq	%rsi, %rsi
	je	.LBB0_3
	movss	.LCPI0_0(%rip), %xmm1
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_2:
	movss	(%rdi,%rax,4), %xmm2
	mulss	%xmm0, %xmm1
	maxss	%xmm1, %xmm2
	movss	%xmm2, (%rdx,%rax,4)
	addq	$1, %rax
	movaps	%xmm2, %xmm1
	cmpq	%rax, %rsi
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	follow, .Lfunc_end0-follow
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
