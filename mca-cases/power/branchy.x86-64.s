	.text
	.file	"branchy.c"
	.globl	sum_powers
	.p2align	6, 0x90
	.type	sum_powers,@function
sum_powers:
	testq	%rdx, %rdx
	je	.LBB0_1
	xorl	%r8d, %r8d
	xorl	%eax, %eax
	jmp	.LBB0_4
	.p2align	4, 0x90
.LBB0_8:
	addq	%r10, %rax
	addq	$1, %r8
	cmpq	%rdx, %r8
	je	.LBB0_2
.LBB0_4:
	movq	(%rdi,%r8,8), %r9
	movzwl	(%rsi,%r8,2), %ecx
	movl	$1, %r10d
	movl	$16, %r11d
	jmp	.LBB0_5
	.p2align	4, 0x90
.LBB0_7:
	addl	%ecx, %ecx
	addl	$-1, %r11d
	je	.LBB0_8
.LBB0_5:
	imulq	%r10, %r10
	testl	$32768, %ecx
	je	.LBB0_7
	imulq	%r9, %r10
	jmp	.LBB0_7
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	retq
.Lfunc_end0:
	.size	sum_powers, .Lfunc_end0-sum_powers
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
