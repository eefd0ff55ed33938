	.text
	.file	"branchless.c"
	.globl	apply_signs
	.p2align	6, 0x90
	.type	apply_signs,@function
apply_signs:
	pushq	%rbx
	testq	%rdx, %rdx
	je	.LBB0_5
	xorl	%r8d, %r8d
	.p2align	4, 0x90
.LBB0_2:
	movzwl	(%rsi,%r8,2), %r9d
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_3:
	movl	%r9d, %r10d
	andl	$1, %r10d
	movzwl	(%rdi,%rax,2), %r11d
	movl	%r10d, %ebx
	negl	%ebx
	xorl	%r11d, %ebx
	addl	%r10d, %ebx
	movw	%bx, (%rcx,%rax,2)
	addq	$1, %rax
	shrl	%r9d
	cmpq	$16, %rax
	jne	.LBB0_3
	addq	$1, %r8
	addq	$32, %rcx
	addq	$32, %rdi
	cmpq	%rdx, %r8
	jne	.LBB0_2
.LBB0_5:
	popq	%rbx
	retq
.Lfunc_end0:
	.size	apply_signs, .Lfunc_end0-apply_signs
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
