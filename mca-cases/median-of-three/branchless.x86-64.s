	.text
	.file	"branchless.c"
	.globl	medians
	.p2align	6, 0x90
	.type	medians,@function
medians:
	testq	%rsi, %rsi
	je	.LBB0_3
	addq	$8, %rdi
	xorl	%r9d, %r9d
	.p2align	4, 0x90
.LBB0_2:
	movl	-8(%rdi), %ecx
	movl	-4(%rdi), %r8d
	cmpl	%r8d, %ecx
	movl	%r8d, %eax
	cmovll	%ecx, %eax
	cmovll	%r8d, %ecx
	movl	(%rdi), %r8d
	cmpl	%r8d, %ecx
	cmovgel	%r8d, %ecx
	cmpl	%ecx, %eax
	cmovgl	%eax, %ecx
	movl	%ecx, (%rdx,%r9,4)
	addq	$1, %r9
	addq	$12, %rdi
	cmpq	%r9, %rsi
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	medians, .Lfunc_end0-medians
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
