	.file	"branchless.c"
	.text
	.p2align 6
	.globl	bubble
	.type	bubble, @function
bubble:
	testq	%rsi, %rsi
	je	.L1
	movl	(%rdi), %eax
	addq	$4, %rdi
	leaq	(%rdi,%rsi,4), %rsi
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %edx
	movl	%eax, %ecx
	cmpl	%eax, %edx
	cmovle	%edx, %ecx
	cmpl	%edx, %eax
	cmovl	%edx, %eax
	addq	$4, %rdi
	movl	%ecx, -8(%rdi)
	movl	%eax, -4(%rdi)
	cmpq	%rdi, %rsi
	jne	.L3
.L1:
	ret
	.size	bubble, .-bubble
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
