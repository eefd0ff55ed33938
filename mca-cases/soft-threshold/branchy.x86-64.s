	.text
	.file	"branchy.c"
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
	je	.LBB0_8
	movaps	.LCPI0_0(%rip), %xmm1
	xorps	%xmm0, %xmm1
	xorl	%eax, %eax
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_3:
	subss	%xmm0, %xmm2
.LBB0_6:
	movaps	%xmm2, %xmm3
.LBB0_7:
	movss	%xmm3, (%rdx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.LBB0_8
.LBB0_2:
	movss	(%rdi,%rax,4), %xmm2
	ucomiss	%xmm0, %xmm2
	ja	.LBB0_3
	ucomiss	%xmm2, %xmm1
	xorps	%xmm3, %xmm3
	jbe	.LBB0_7
	addss	%xmm0, %xmm2
	jmp	.LBB0_6
.LBB0_8:
	retq
.Lfunc_end0:
	.size	shrink, .Lfunc_end0-shrink
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
