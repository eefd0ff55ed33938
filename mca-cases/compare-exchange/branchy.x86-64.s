	.file	"branchy.c"
	.text
	.p2align 6
	.globl	order_pairs
	.type	order_pairs, @function
order_pairs:
	cmpq	$1, %rsi
	jbe	.L1
	subq	$2, %rsi
	xorl	%eax, %eax
	shrq	%rsi
	leaq	2(%rsi,%rsi), %rsi
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %edx
	movl	4(%rdi,%rax,4), %ecx
	cmpl	%ecx, %edx
	jle	.L3
	movl	%ecx, (%rdi,%rax,4)
	movl	%edx, 4(%rdi,%rax,4)
.L3:
	addq	$2, %rax
	cmpq	%rsi, %rax
	jne	.L4
.L1:
	ret
	.size	order_pairs, .-order_pairs
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
