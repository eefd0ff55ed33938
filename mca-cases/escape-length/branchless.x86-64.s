	.file	"branchless.c"
	.text
	.p2align 6
	.globl	escaped_length
	.type	escaped_length, @function
escaped_length:
	testq	%rsi, %rsi
	je	.L4
	addq	%rdi, %rsi
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	(%rdi), %ecx
	addq	$1, %rdi
	movzbl	(%rdx,%rcx), %ecx
	addq	%rcx, %rax
	cmpq	%rdi, %rsi
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%eax, %eax
	ret
	.size	escaped_length, .-escaped_length
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
