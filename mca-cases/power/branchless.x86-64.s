	.text
	.file	"branchless.c"
	.globl	sum_powers
	.p2align	6, 0x90
	.type	sum_powers,@function
sum_powers:
	pushq	%r14
	pushq	%rbx
	testq	%rdx, %rdx
	je	.LBB0_1
	xorl	%r8d, %r8d
	movl	$1, %r9d
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_4:
	movq	(%rdi,%r8,8), %r10
	movzwl	(%rsi,%r8,2), %ecx
	movl	$16, %r11d
	movl	$1, %ebx
	.p2align	4, 0x90
.LBB0_5:
	testl	$32768, %ecx
	movq	%r10, %r14
	cmoveq	%r9, %r14
	imulq	%rbx, %rbx
	imulq	%r14, %rbx
	addl	%ecx, %ecx
	addl	$-1, %r11d
	jne	.LBB0_5
	addq	%rbx, %rax
	addq	$1, %r8
	cmpq	%rdx, %r8
	jne	.LBB0_4
	jmp	.LBB0_2
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	popq	%rbx
	popq	%r14
	retq
.Lfunc_end0:
	.size	sum_powers, .Lfunc_end0-sum_powers
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
