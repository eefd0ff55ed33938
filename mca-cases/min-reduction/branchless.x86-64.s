	.file	"branchless.c"
	.text
	.p2align 6
	.globl	min_reduce
	.type	min_reduce, @function
min_reduce:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,4), %rcx
	movl	$2147483647, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %edx
	cmpl	%edx, %eax
	cmovg	%edx, %eax
	addq	$4, %rdi
	cmpq	%rcx, %rdi
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	movl	$2147483647, %eax
	ret
	.size	min_reduce, .-min_reduce
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
