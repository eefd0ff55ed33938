	.file	"branchless.c"
	.text
	.p2align 6
	.globl	order_pairs
	.type	order_pairs, @function
order_pairs:
	cmpq	$1, %rsi
	jbe	.L1
	leaq	-8(,%rsi,4), %rax
	andq	$-8, %rax
	leaq	8(%rdi,%rax), %rsi
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %eax
	movl	4(%rdi), %edx
	cmpl	%edx, %eax
	movl	%edx, %ecx
	cmovle	%eax, %ecx
	cmovl	%edx, %eax
	addq	$8, %rdi
	movl	%ecx, -8(%rdi)
	movl	%eax, -4(%rdi)
	cmpq	%rsi, %rdi
	jne	.L3
.L1:
	ret
	.size	order_pairs, .-order_pairs
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
