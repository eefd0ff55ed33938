	.file	"branchless.c"
	.text
	.p2align 6
	.globl	keep_below
	.type	keep_below, @function
keep_below:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,4), %r8
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %esi
	cmpl	%edx, %esi
	movl	%esi, (%rcx,%rax,4)
	setl	%sil
	addq	$4, %rdi
	movzbl	%sil, %esi
	addq	%rsi, %rax
	cmpq	%rdi, %r8
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%eax, %eax
	ret
	.size	keep_below, .-keep_below
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
