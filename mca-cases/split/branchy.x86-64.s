	.text
	.file	"branchy.c"
	.globl	split
	.p2align	6, 0x90
	.type	split,@function
split:
	testq	%rsi, %rsi
	je	.LBB0_1
	xorl	%r9d, %r9d
	xorl	%r10d, %r10d
	xorl	%eax, %eax
	jmp	.LBB0_4
	.p2align	4, 0x90
.LBB0_6:
	movl	%r11d, (%r8,%r10,4)
	addq	$1, %r10
.LBB0_7:
	addq	$1, %r9
	cmpq	%r9, %rsi
	je	.LBB0_2
.LBB0_4:
	movl	(%rdi,%r9,4), %r11d
	cmpl	%edx, %r11d
	jge	.LBB0_6
	movl	(%rdi,%r9,4), %r11d
	movl	%r11d, (%rcx,%rax,4)
	addq	$1, %rax
	jmp	.LBB0_7
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	retq
.Lfunc_end0:
	.size	split, .Lfunc_end0-split
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
