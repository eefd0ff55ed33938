	.text
	.file	"branchless.c"
	.globl	intersect
	.p2align	6, 0x90
	.type	intersect,@function
intersect:
	testq	%rdx, %rdx
	je	.LBB0_1
	xorl	%r8d, %r8d
	.p2align	4, 0x90
.LBB0_4:
	movl	(%rdi), %r9d
	movl	(%rsi), %r10d
	movl	%r9d, (%rcx,%r8,4)
	xorl	%eax, %eax
	xorl	%r11d, %r11d
	cmpl	%r10d, %r9d
	sete	%al
	setbe	%r11b
	addq	%r8, %rax
	leaq	(%rdi,%r11,4), %rdi
	xorl	%r8d, %r8d
	cmpl	%r9d, %r10d
	setbe	%r8b
	leaq	(%rsi,%r8,4), %rsi
	movq	%rax, %r8
	addq	$-1, %rdx
	jne	.LBB0_4
	retq
.LBB0_1:
	xorl	%eax, %eax
	retq
.Lfunc_end0:
	.size	intersect, .Lfunc_end0-intersect
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
