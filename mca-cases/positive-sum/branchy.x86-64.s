	.text
	.file	"branchy.c"
	.globl	positive_sum
	.p2align	6, 0x90
	.type	positive_sum,@function
positive_sum:
	testq	%rsi, %rsi
	je	.LBB0_1
	addq	$4, %rdi
	xorl	%eax, %eax
	jmp	.LBB0_4
	.p2align	4, 0x90
.LBB0_6:
	addq	$16, %rdi
	addq	$-1, %rsi
	je	.LBB0_2
.LBB0_4:
	cmpl	$0, (%rdi)
	jle	.LBB0_6
	movslq	(%rdi), %rcx
	addq	%rcx, %rax
	jmp	.LBB0_6
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	retq
.Lfunc_end0:
	.size	positive_sum, .Lfunc_end0-positive_sum
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
