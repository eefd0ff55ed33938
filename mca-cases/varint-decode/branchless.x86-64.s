	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_varints
	.type	sum_varints, @function
sum_varints:
	movq	%rsi, %r9
	testq	%rsi, %rsi
	je	.L5
	xorl	%esi, %esi
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi), %edx
	movl	%edx, %ecx
	notl	%ecx
	movl	%ecx, %r10d
	andl	$-2139062144, %r10d
	leal	-1(%r10), %eax
	xorl	%r10d, %eax
	andl	%edx, %eax
	movl	%eax, %edx
	movl	%eax, %r10d
	shrl	%edx
	shrl	$2, %r10d
	andl	$2080768, %r10d
	andl	$16256, %edx
	orl	%r10d, %edx
	movl	%eax, %r10d
	shrl	$3, %eax
	andl	$127, %r10d
	andl	$266338304, %eax
	orl	%r10d, %edx
	orl	%edx, %eax
	movl	%ecx, %edx
	addq	%rax, %r8
	xorl	%eax, %eax
	testb	$-128, %cl
	sete	%al
	andl	$32896, %edx
	cmpl	$1, %edx
	adcl	$1, %eax
	andl	$8421504, %ecx
	cmpl	$1, %ecx
	adcl	$0, %eax
	addq	$1, %rsi
	cltq
	addq	%rax, %rdi
	cmpq	%rsi, %r9
	jne	.L4
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	sum_varints, .-sum_varints
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
