	.file	"branchless.c"
	.text
	.p2align 6
	.globl	count_words
	.type	count_words, @function
count_words:
	testq	%rsi, %rsi
	je	.L4
	addq	%rdi, %rsi
	xorl	%edx, %edx
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	cmpb	$32, (%rdi)
	movl	%edx, %eax
	seta	%dl
	xorl	$1, %eax
	addq	$1, %rdi
	andl	%edx, %eax
	movzbl	%al, %eax
	addq	%rax, %rcx
	cmpq	%rdi, %rsi
	jne	.L3
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	count_words, .-count_words
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
