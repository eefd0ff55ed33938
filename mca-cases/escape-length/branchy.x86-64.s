	.file	"branchy.c"
	.text
	.p2align 6
	.globl	escaped_length
	.type	escaped_length, @function
escaped_length:
	testq	%rsi, %rsi
	je	.L7
	addq	%rdi, %rsi
	xorl	%edx, %edx
	jmp	.L6
	.p2align 4,,10
	.p2align 3
.L10:
	addq	$6, %rdx
.L4:
	addq	$1, %rdi
	cmpq	%rsi, %rdi
	je	.L1
.L6:
	movzbl	(%rdi), %eax
	cmpb	$31, %al
	jbe	.L10
	cmpb	$34, %al
	je	.L11
	addq	$1, %rdi
	addq	$1, %rdx
	cmpq	%rsi, %rdi
	jne	.L6
.L1:
	movq	%rdx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L11:
	addq	$2, %rdx
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L7:
	xorl	%edx, %edx
	movq	%rdx, %rax
	ret
	.size	escaped_length, .-escaped_length
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
