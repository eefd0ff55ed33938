	.file	"branchy.c"
	.text
	.p2align 6
	.globl	differences
	.type	differences, @function
differences:
	movq	%rdi, %r10
	testq	%rdx, %rdx
	je	.L5
	xorl	%eax, %eax
	xorl	%r9d, %r9d
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	(%r10,%rax), %r8d
	movzbl	(%rsi,%rax), %edi
	cmpb	%dil, %r8b
	je	.L3
	movzbl	(%rcx,%rdi), %edi
	cmpb	%dil, (%rcx,%r8)
	setne	%dil
	movzbl	%dil, %edi
	addq	%rdi, %r9
.L3:
	addq	$1, %rax
	cmpq	%rax, %rdx
	jne	.L4
	movq	%r9, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r9d, %r9d
	movq	%r9, %rax
	ret
	.size	differences, .-differences
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
