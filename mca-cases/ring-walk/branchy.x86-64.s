	.text
	.file	"branchy.c"
	.globl	walk
	.p2align	6, 0x90
	.type	walk,@function
walk:
	testq	%rcx, %rcx
	je	.LBB0_1
	xorl	%r8d, %r8d
	xorl	%r10d, %r10d
	xorl	%eax, %eax
	jmp	.LBB0_4
	.p2align	4, 0x90
.LBB0_6:
	movl	(%rdi,%r9,4), %r10d
	addq	%r10, %rax
	addq	$1, %r8
	movq	%r9, %r10
	cmpq	%r8, %rcx
	je	.LBB0_2
.LBB0_4:
	movzwl	(%rdx,%r8,2), %r9d
	addq	%r10, %r9
	movq	%r9, %r10
	subq	%rsi, %r10
	jb	.LBB0_6
	movq	%r10, %r9
	jmp	.LBB0_6
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	retq
.Lfunc_end0:
	.size	walk, .Lfunc_end0-walk
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
