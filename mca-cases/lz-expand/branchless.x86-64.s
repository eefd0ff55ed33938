	.file	"branchless.c"
	.text
	.p2align 6
	.globl	expand
	.type	expand, @function
expand:
	movq	%rsi, %rax
	movq	%rdx, %rsi
	testq	%rax, %rax
	je	.L1
	leaq	9(%rax,%rax,8), %rax
	leaq	9(%rdi), %r9
	movq	$-256, %r10
	leaq	(%rdi,%rax), %r11
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	-9(%r9), %edi
	leaq	-8(%r9), %rcx
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	(%rcx), %r8d
	movq	%r10, %rdx
	movl	%edi, %eax
	shrl	%edi
	andl	$1, %eax
	subq	%r8, %rdx
	addq	%rsi, %rdx
	movq	%rax, %r8
	subq	%rcx, %rdx
	leaq	1(%rax,%rax,2), %rax
	addq	$1, %rcx
	negq	%r8
	andq	%r8, %rdx
	movl	-1(%rcx,%rdx), %edx
	movl	%edx, (%rsi)
	addq	%rax, %rsi
	cmpq	%r9, %rcx
	jne	.L3
	addq	$9, %r9
	cmpq	%r9, %r11
	jne	.L4
.L1:
	movq	%rsi, %rax
	ret
	.size	expand, .-expand
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
