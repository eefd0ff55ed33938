	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_quotients
	.type	sum_quotients, @function
sum_quotients:
	movq	%rdi, %r10
	movq	%rsi, %r11
	movq	%rdx, %r9
	testq	%rdx, %rdx
	je	.L4
	xorl	%edi, %edi
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%r11,%rdi,4), %esi
	movl	(%r10,%rdi,4), %eax
	xorl	%ecx, %ecx
	testl	%esi, %esi
	sete	%cl
	xorl	%edx, %edx
	addq	$1, %rdi
	addl	%ecx, %esi
	subl	$1, %ecx
	divl	%esi
	andl	%ecx, %eax
	addq	%rax, %r8
	cmpq	%rdi, %r9
	jne	.L3
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	sum_quotients, .-sum_quotients
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
