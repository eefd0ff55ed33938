	.text
	.file	"branchy.c"
	.globl	decode
	.p2align	6, 0x90
	.type	decode,@function
decode:
	testq	%rsi, %rsi
	je	.LBB0_9
	xorl	%eax, %eax
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_7:
	addb	$-48, %cl
.LBB0_8:
	orb	%r8b, %cl
	movb	%cl, (%rdx,%rax)
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.LBB0_9
.LBB0_2:
	movzbl	(%rdi,%rax,2), %r8d
	cmpb	$58, %r8b
	jb	.LBB0_4
	orb	$32, %r8b
	addb	$-87, %r8b
	jmp	.LBB0_5
	.p2align	4, 0x90
.LBB0_4:
	addb	$-48, %r8b
.LBB0_5:
	shlb	$4, %r8b
	movzbl	1(%rdi,%rax,2), %ecx
	cmpb	$58, %cl
	jb	.LBB0_7
	orb	$32, %cl
	addb	$-87, %cl
	jmp	.LBB0_8
.LBB0_9:
	retq
.Lfunc_end0:
	.size	decode, .Lfunc_end0-decode
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
