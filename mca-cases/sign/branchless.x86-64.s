	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_signs
	.type	sum_signs, @function
sum_signs:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,4), %rsi
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %edx
	xorl	%eax, %eax
	testl	%edx, %edx
	setg	%al
	shrl	$31, %edx
	addq	$4, %rdi
	subl	%edx, %eax
	cltq
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
	.size	sum_signs, .-sum_signs
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
