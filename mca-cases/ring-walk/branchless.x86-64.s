	.text
	.file	"branchless.c"
	.globl	walk
	.p2align	6, 0x90
	.type	walk,@function
walk:
	xorl	%eax, %eax
	testq	%rcx, %rcx
	je	.LBB0_3
	xorl	%r8d, %r8d
	xorl	%r9d, %r9d
	.p2align	4, 0x90
.LBB0_2:
	movzwl	(%rdx,%r8,2), %r10d
	addq	%r9, %r10
	movq	%r10, %r9
	subq	%rsi, %r9
	cmovsq	%r10, %r9
	movl	(%rdi,%r9,4), %r10d
	addq	%r10, %rax
	addq	$1, %r8
	cmpq	%r8, %rcx
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	walk, .Lfunc_end0-walk
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
