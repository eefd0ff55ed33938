	.text
	.file	"branchy.c"
	.globl	add_modulo
	.p2align	6, 0x90
	.type	add_modulo,@function
add_modulo:
	testq	%rdx, %rdx
	je	.LBB0_5
	xorl	%eax, %eax
	jmp	.LBB0_2
	.p2align	4, 0x90
.LBB0_4:
	movl	%r9d, (%r8,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rdx
	je	.LBB0_5
.LBB0_2:
	movl	(%rsi,%rax,4), %r9d
	addl	(%rdi,%rax,4), %r9d
	movl	%r9d, %r10d
	subl	%ecx, %r10d
	jb	.LBB0_4
	movl	%r10d, %r9d
	jmp	.LBB0_4
.LBB0_5:
	retq
.Lfunc_end0:
	.size	add_modulo, .Lfunc_end0-add_modulo
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
