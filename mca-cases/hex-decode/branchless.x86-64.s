	.text
	.file	"branchless.c"
	.globl	decode
	.p2align	6, 0x90
	.type	decode,@function
decode:
	testq	%rsi, %rsi
	je	.LBB0_3
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_2:
	movzbl	(%rdi,%rax,2), %r8d
	movzbl	1(%rdi,%rax,2), %r9d
	movl	%r8d, %ecx
	shrb	$6, %cl
	movzbl	%cl, %ecx
	leal	(%rcx,%rcx,8), %r10d
	addb	%r8b, %r10b
	shlb	$4, %r10b
	movl	%r9d, %r8d
	andb	$15, %r8b
	shrb	$6, %r9b
	movzbl	%r9b, %ecx
	leal	(%rcx,%rcx,8), %ecx
	addb	%r8b, %cl
	orb	%r10b, %cl
	movb	%cl, (%rdx,%rax)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	decode, .Lfunc_end0-decode
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
