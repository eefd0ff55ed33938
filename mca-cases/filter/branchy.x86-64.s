	.file	"branchy.c"
	.text
	.p2align 6
	.globl	keep_below
	.type	keep_below, @function
keep_below:
	testq	%rsi, %rsi
	je	.L5
	xorl	%eax, %eax
	xorl	%r9d, %r9d
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %r8d
	cmpl	%edx, %r8d
	jge	.L3
	movl	%r8d, (%rcx,%r9,4)
	addq	$1, %r9
.L3:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
	movq	%r9, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r9d, %r9d
	movq	%r9, %rax
	ret
	.size	keep_below, .-keep_below
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
