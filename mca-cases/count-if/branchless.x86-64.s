	.file	"branchless.c"
	.text
	.p2align 6
	.globl	count_byte
	.type	count_byte, @function
count_byte:
	testq	%rsi, %rsi
	je	.L4
	addq	%rdi, %rsi
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	xorl	%ecx, %ecx
	cmpb	%dl, (%rdi)
	sete	%cl
	addq	$1, %rdi
	addq	%rcx, %rax
	cmpq	%rdi, %rsi
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%eax, %eax
	ret
	.size	count_byte, .-count_byte
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
