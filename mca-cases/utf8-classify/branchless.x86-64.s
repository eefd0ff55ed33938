	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_lengths
	.type	sum_lengths, @function
sum_lengths:
	testq	%rsi, %rsi
	je	.L5
	addq	%rdi, %rsi
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L4:
	movsbl	(%rdi), %eax
	xorl	%r8d, %r8d
	movl	%eax, %edx
	shrl	$31, %eax
	cmpb	$-33, %dl
	seta	%r8b
	cmpb	$-17, %dl
	seta	%dl
	leal	1(%rax,%r8), %eax
	addq	$1, %rdi
	movzbl	%dl, %edx
	addl	%edx, %eax
	cltq
	addq	%rax, %rcx
	cmpq	%rdi, %rsi
	jne	.L4
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	sum_lengths, .-sum_lengths
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
