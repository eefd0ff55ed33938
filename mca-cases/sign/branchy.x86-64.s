	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_signs
	.type	sum_signs, @function
sum_signs:
	testq	%rsi, %rsi
	je	.L6
	xorl	%eax, %eax
	xorl	%edx, %edx
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L12:
	addq	$1, %rdx
.L4:
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.L1
.L5:
	movl	(%rdi,%rax,4), %ecx
	testl	%ecx, %ecx
	jg	.L12
	je	.L4
	addq	$1, %rax
	subq	$1, %rdx
	cmpq	%rax, %rsi
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
	.size	sum_signs, .-sum_signs
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
