	.file	"branchless.c"
	.text
	.p2align 6
	.globl	partition
	.type	partition, @function
partition:
	testq	%rsi, %rsi
	je	.L4
	movq	%rdi, %rax
	leaq	(%rdi,%rsi,4), %r10
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rax), %esi
	leaq	(%rdi,%rcx,4), %r8
	movl	(%r8), %r9d
	cmpl	%edx, %esi
	movl	%r9d, (%rax)
	movl	%esi, (%r8)
	setl	%sil
	addq	$4, %rax
	movzbl	%sil, %esi
	addq	%rsi, %rcx
	cmpq	%rax, %r10
	jne	.L3
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	partition, .-partition
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
