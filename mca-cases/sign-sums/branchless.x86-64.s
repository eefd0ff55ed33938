	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sums
	.type	sums, @function
sums:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,4), %r9
	xorl	%r8d, %r8d
	xorl	%esi, %esi
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %edx
	addq	$4, %rdi
	movl	%edx, %eax
	movl	%edx, %ecx
	sarl	$31, %eax
	andl	%eax, %ecx
	notl	%eax
	andl	%edx, %eax
	movslq	%ecx, %rcx
	cltq
	addq	%rcx, %rsi
	addq	%rax, %r8
	cmpq	%rdi, %r9
	jne	.L3
	leaq	(%rsi,%rsi,2), %rax
	addq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%eax, %eax
	ret
	.size	sums, .-sums
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
