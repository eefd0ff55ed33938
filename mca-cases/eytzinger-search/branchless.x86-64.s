	.file	"branchless.c"
	.text
	.p2align 6
	.globl	search_all
	.type	search_all, @function
search_all:
	movq	%rdi, %r8
	testq	%rcx, %rcx
	je	.L6
	leaq	(%rdx,%rcx,4), %r10
	xorl	%r9d, %r9d
	.p2align 4,,10
	.p2align 3
.L5:
	movl	(%rdx), %edi
	movl	$1, %eax
	testq	%rsi, %rsi
	je	.L3
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	cmpl	%edi, (%r8,%rax,4)
	setb	%cl
	leaq	(%rcx,%rax,2), %rax
	cmpq	%rax, %rsi
	jnb	.L4
.L3:
	addq	$4, %rdx
	addq	%rax, %r9
	cmpq	%rdx, %r10
	jne	.L5
	movq	%r9, %rax
	ret
.L6:
	xorl	%r9d, %r9d
	movq	%r9, %rax
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
