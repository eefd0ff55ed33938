	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_lengths
	.type	sum_lengths, @function
sum_lengths:
	testq	%rsi, %rsi
	je	.L8
	addq	%rdi, %rsi
	xorl	%edx, %edx
	jmp	.L7
	.p2align 4,,10
	.p2align 3
.L11:
	addq	$1, %rdx
.L4:
	addq	$1, %rdi
	cmpq	%rsi, %rdi
	je	.L1
.L7:
	movzbl	(%rdi), %eax
	testb	%al, %al
	jns	.L11
	cmpb	$-33, %al
	ja	.L5
	addq	$1, %rdi
	addq	$2, %rdx
	cmpq	%rsi, %rdi
	jne	.L7
.L1:
	movq	%rdx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	cmpb	$-17, %al
	ja	.L6
	addq	$3, %rdx
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L6:
	addq	$4, %rdx
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L8:
	xorl	%edx, %edx
	movq	%rdx, %rax
	ret
	.size	sum_lengths, .-sum_lengths
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
