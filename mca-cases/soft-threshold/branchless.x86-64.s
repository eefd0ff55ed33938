	.text
	.file	"branchless.c"
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	4
.LCPI0_0:
	.long	0x80000000
	.long	0x80000000
	.long	0x80000000
	.long	0x80000000
	.text
	.globl	shrink
	.p2align	6, 0x90
	.type	shrink,@function
shrink:
	testq	%rsi, %rsi
	je	.LBB0_3
	movaps	.LCPI0_0(%rip), %xmm1
	xorps	%xmm0, %xmm1
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_2:
	movss	(%rdi,%rax,4), %xmm2
	movaps	%xmm2, %xmm3
	minss	%xmm0, %xmm3
	maxss	%xmm1, %xmm3
	subss	%xmm3, %xmm2
	movss	%xmm2, (%rdx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	shrink, .Lfunc_end0-shrink
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
