	.text
	.file	"branchy.c"
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
	je	.LBB0_5
	movss	.LCPI0_0(%rip), %xmm1
	xorl	%eax, %eax
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_4:
	movss	%xmm1, (%rdx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.LBB0_5
.LBB0_2:
	mulss	%xmm0, %xmm1
	movss	(%rdi,%rax,4), %xmm2
	ucomiss	%xmm1, %xmm2
	jbe	.LBB0_4
	movss	(%rdi,%rax,4), %xmm1
	jmp	.LBB0_4
.LBB0_5:
	retq
.Lfunc_end0:
	.size	follow, .Lfunc_end0-follow
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
