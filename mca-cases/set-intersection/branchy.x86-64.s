	.text
	.file	"branchy.c"
	.globl	intersect
	.p2align	6, 0x90
	.type	intersect,@function
intersect:
	xorl	%eax, %eax
	testq	%rdx, %rdx
	jne	.LBB0_1
	jmp	.LBB0_7
	.p2align	4, 0x90
.LBB0_2:
	addq	$4, %rdi
	addq	$-1, %rdx
	je	.LBB0_7
.LBB0_1:
	movl	(%rdi), %r8d
	movl	(%rsi), %r9d
	cmpl	%r9d, %r8d
	jb	.LBB0_2
	cmpl	%r9d, %r8d
	ja	.LBB0_5
	movl	(%rdi), %r8d
	addq	$4, %rdi
	movl	%r8d, (%rcx,%rax,4)
	addq	$1, %rax
.LBB0_5:
	addq	$4, %rsi
	addq	$-1, %rdx
	jne	.LBB0_1
.LBB0_7:
	retq
.Lfunc_end0:
	.size	intersect, .Lfunc_end0-intersect
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
