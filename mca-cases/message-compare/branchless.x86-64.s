	.file	"branchless.c"
	.text
	.p2align 6
	.globl	count_before
	.type	count_before, @function
count_before:
	movq	%rsi, %r8
	testq	%rdx, %rdx
	je	.L4
	salq	$4, %rdx
	xorl	%eax, %eax
	xorl	%r9d, %r9d
	.p2align 4,,10
	.p2align 3
.L3:
	movq	(%r8,%rax), %rsi
	cmpq	%rsi, (%rdi,%rax)
	setg	%sil
	setl	%cl
	movzbl	%cl, %ecx
	movzbl	%sil, %esi
	subl	%ecx, %esi
	movq	8(%r8,%rax), %rcx
	cmpq	%rcx, 8(%rdi,%rax)
	setg	%cl
	setl	%r10b
	addq	$16, %rax
	movzbl	%cl, %ecx
	movzbl	%r10b, %r10d
	subl	%r10d, %ecx
	leal	(%rcx,%rsi,2), %ecx
	movslq	%ecx, %rcx
	shrq	$63, %rcx
	addq	%rcx, %r9
	cmpq	%rax, %rdx
	jne	.L3
	movq	%r9, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%r9d, %r9d
	movq	%r9, %rax
	ret
	.size	count_before, .-count_before
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
