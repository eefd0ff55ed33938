	.file	"branchless.c"
	.text
	.p2align 6
	.globl	merge
	.type	merge, @function
merge:
	movq	%rsi, %r8
	testq	%rdx, %rdx
	je	.L1
	leaq	(%rcx,%rdx,4), %r10
	movl	$1, %r9d
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %edx
	movl	(%r8), %esi
	xorl	%eax, %eax
	cmpl	%esi, %edx
	setg	%al
	cmpl	%esi, %edx
	leaq	(%r8,%rax,4), %r8
	cmovg	%esi, %edx
	addq	$4, %rcx
	movl	%edx, -4(%rcx)
	movq	%r9, %rdx
	subq	%rax, %rdx
	leaq	(%rdi,%rdx,4), %rdi
	cmpq	%rcx, %r10
	jne	.L3
.L1:
	ret
	.size	merge, .-merge
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
