	.text
	.file	"branchless.c"
	.globl	add_modulo
	.p2align	6, 0x90
	.type	add_modulo,@function
add_modulo:
	testq	%rdx, %rdx
	je	.LBB0_3
	xorl	%r9d, %r9d
	xorl	%r11d, %r11d
	.p2align	4, 0x90
.LBB0_2:
	movl	(%rsi,%r11,4), %r10d
	addl	(%rdi,%r11,4), %r10d
	cmpl	%ecx, %r10d
	movl	%ecx, %eax
	cmovbl	%r9d, %eax
	subl	%eax, %r10d
	movl	%r10d, (%r8,%r11,4)
	addq	$1, %r11
	cmpq	%r11, %rdx
	jne	.LBB0_2
.LBB0_3:
	retq
.Lfunc_end0:
	.size	add_modulo, .Lfunc_end0-add_modulo
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
