	.file	"branchless.c"
	.text
	.p2align 6
	.globl	fill_bucket
	.type	fill_bucket, @function
fill_bucket:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,4), %r8
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	addl	(%rdi), %eax
	cmpl	%edx, %eax
	cmovg	%edx, %eax
	addq	$4, %rdi
	movslq	%eax, %rsi
	addq	%rsi, %rcx
	cmpq	%rdi, %r8
	jne	.L3
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	fill_bucket, .-fill_bucket
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
