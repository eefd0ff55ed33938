	.text
	.file	"branchy.c"
	.globl	medians
	.p2align	6, 0x90
	.type	medians,@function
medians:
	testq	%rsi, %rsi
	je	.LBB0_9
	addq	$8, %rdi
	xorl	%eax, %eax
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_7:
	movl	%r9d, %r10d
.LBB0_8:
	movl	%r10d, (%rdx,%rax,4)
	addq	$1, %rax
	addq	$12, %rdi
	cmpq	%rax, %rsi
	je	.LBB0_9
.LBB0_2:
	movl	-8(%rdi), %r8d
	movl	-4(%rdi), %ecx
	movl	(%rdi), %r9d
	cmpl	%ecx, %r8d
	jle	.LBB0_5
	movl	%r8d, %r10d
	cmpl	%r9d, %r8d
	jle	.LBB0_8
	cmpl	%r9d, %ecx
	cmovgl	%ecx, %r9d
	jmp	.LBB0_7
	.p2align	4, 0x90
.LBB0_5:
	movl	%ecx, %r10d
	cmpl	%r9d, %ecx
	jle	.LBB0_8
	cmpl	%r9d, %r8d
	cmovgl	%r8d, %r9d
	jmp	.LBB0_7
.LBB0_9:
	retq
.Lfunc_end0:
	.size	medians, .Lfunc_end0-medians
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
