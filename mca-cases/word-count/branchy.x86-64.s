	.file	"branchy.c"
	.text
	.p2align 6
	.globl	count_words
	.type	count_words, @function
count_words:
	testq	%rsi, %rsi
	je	.L6
	addq	%rdi, %rsi
	xorl	%eax, %eax
	xorl	%edx, %edx
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L9:
	xorl	%eax, %eax
.L4:
	addq	$1, %rdi
	cmpq	%rsi, %rdi
	je	.L1
.L5:
	cmpb	$32, (%rdi)
	jbe	.L9
	testb	%al, %al
	jne	.L4
	addq	$1, %rdi
	addq	$1, %rdx
	movl	$1, %eax
	cmpq	%rsi, %rdi
	jne	.L5
.L1:
	movq	%rdx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	xorl	%edx, %edx
	movq	%rdx, %rax
	ret
	.size	count_words, .-count_words
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
