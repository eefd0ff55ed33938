	.text
	.file	"branchy.c"
	.globl	walk_all
	.p2align	6, 0x90
	.type	walk_all,@function
walk_all:
	testq	%rdx, %rdx
	je	.LBB0_1
	xorl	%r8d, %r8d
	xorl	%eax, %eax
	jmp	.LBB0_4
	.p2align	4, 0x90
.LBB0_9:
	addq	%r10, %rax
	addq	$1, %r8
	cmpq	%rdx, %r8
	je	.LBB0_2
.LBB0_4:
	movl	(%rsi,%r8,4), %r9d
	movl	$8, %r11d
	xorl	%r10d, %r10d
	jmp	.LBB0_5
	.p2align	4, 0x90
.LBB0_7:
	leaq	(%rdi,%r10,4), %r10
	addq	$8, %r10
.LBB0_8:
	movl	(%r10), %r10d
	addl	$-1, %r11d
	je	.LBB0_9
.LBB0_5:
	movl	%r10d, %ecx
	leaq	(%rcx,%rcx,2), %r10
	cmpl	%r9d, (%rdi,%r10,4)
	jbe	.LBB0_7
	leaq	(%rdi,%r10,4), %r10
	addq	$4, %r10
	jmp	.LBB0_8
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	retq
.Lfunc_end0:
	.size	walk_all, .Lfunc_end0-walk_all
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
