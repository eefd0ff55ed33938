	.text
	.file	"branchy.c"
	.globl	apply_signs
	.p2align	6, 0x90
	.type	apply_signs,@function
apply_signs:
	testq	%rdx, %rdx
	je	.LBB0_7
	xorl	%r8d, %r8d
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_6:
	addq	$1, %r8
	addq	$32, %rcx
	addq	$32, %rdi
	cmpq	%rdx, %r8
	je	.LBB0_7
.LBB0_2:
	movzwl	(%rsi,%r8,2), %r9d
	xorl	%eax, %eax
	jmp	.LBB0_3
	.p2align	4, 0x90
.LBB0_5:
	movw	%r10w, (%rcx,%rax,2)
	addq	$1, %rax
	shrl	%r9d
	cmpq	$16, %rax
	je	.LBB0_6
.LBB0_3:
	movzwl	(%rdi,%rax,2), %r10d
	testb	$1, %r9b
	je	.LBB0_5
	negl	%r10d
	jmp	.LBB0_5
.LBB0_7:
	retq
.Lfunc_end0:
	.size	apply_signs, .Lfunc_end0-apply_signs
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
