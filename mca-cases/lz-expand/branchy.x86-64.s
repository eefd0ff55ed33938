	.file	"branchy.c"
	.text
	.p2align 6
	.globl	expand
	.type	expand, @function
expand:
	testq	%rsi, %rsi
	je	.L1
	leaq	9(%rsi,%rsi,8), %rax
	leaq	9(%rdi), %r8
	movq	$-256, %r9
	leaq	(%rdi,%rax), %r10
	.p2align 4,,10
	.p2align 3
.L6:
	movzbl	-9(%r8), %ecx
	leaq	-8(%r8), %rax
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L12:
	movq	%r9, %rdi
	addq	$1, %rax
	addq	$4, %rdx
	shrl	%ecx
	subq	%rsi, %rdi
	movl	-4(%rdx,%rdi), %esi
	movl	%esi, -4(%rdx)
	cmpq	%rax, %r8
	je	.L11
.L5:
	movzbl	(%rax), %esi
	testb	$1, %cl
	jne	.L12
	addq	$1, %rax
	movb	%sil, (%rdx)
	shrl	%ecx
	addq	$1, %rdx
	cmpq	%rax, %r8
	jne	.L5
.L11:
	addq	$9, %r8
	cmpq	%r10, %r8
	jne	.L6
.L1:
	movq	%rdx, %rax
	ret
	.size	expand, .-expand
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
