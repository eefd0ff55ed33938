	.text
	.file	"branchless.c"
	.globl	split
	.p2align	6, 0x90
	.type	split,@function
split:
	pushq	%rbx
	testq	%rsi, %rsi
	je	.LBB0_1
	xorl	%r10d, %r10d
	xorl	%r9d, %r9d
	.p2align	4, 0x90
.LBB0_4:
	movl	(%rdi,%r9,4), %r11d
	leaq	(,%r10,4), %rax
	movl	%r11d, (%rcx,%r10,4)
	movq	%r8, %rbx
	subq	%rax, %rbx
	movl	%r11d, (%rbx,%r9,4)
	xorl	%eax, %eax
	cmpl	%edx, %r11d
	setl	%al
	addq	%r10, %rax
	addq	$1, %r9
	movq	%rax, %r10
	cmpq	%r9, %rsi
	jne	.LBB0_4
	popq	%rbx
	retq
.LBB0_1:
	xorl	%eax, %eax
	popq	%rbx
	retq
.Lfunc_end0:
	.size	split, .Lfunc_end0-split
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
