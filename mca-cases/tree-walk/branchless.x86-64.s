	.text
	.file	"branchless.c"
	.globl	walk_all
	.p2align	6, 0x90
	.type	walk_all,@function
walk_all:
	pushq	%rbx
	testq	%rdx, %rdx
	je	.LBB0_1
	xorl	%r8d, %r8d
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_4:
	movl	(%rsi,%r8,4), %r9d
	movl	$8, %r11d
	xorl	%r10d, %r10d
	.p2align	4, 0x90
.LBB0_5:
	movl	%r10d, %ecx
	leaq	(%rcx,%rcx,2), %rcx
	leaq	(%rdi,%rcx,4), %r10
	xorl	%ebx, %ebx
	cmpl	%r9d, (%rdi,%rcx,4)
	setbe	%bl
	movl	4(%r10,%rbx,4), %r10d
	addl	$-1, %r11d
	jne	.LBB0_5
	addq	%r10, %rax
	addq	$1, %r8
	cmpq	%rdx, %r8
	jne	.LBB0_4
	popq	%rbx
	retq
.LBB0_1:
	xorl	%eax, %eax
	popq	%rbx
	retq
.Lfunc_end0:
	.size	walk_all, .Lfunc_end0-walk_all
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
