	.file	"branchy.c"
	.text
	.p2align 6
	.type	mix, @function
mix:
	movl	%edi, %eax
	shrl	$16, %eax
	xorl	%edi, %eax
	imull	$2146121005, %eax, %eax
	movl	%eax, %edx
	shrl	$15, %edx
	xorl	%eax, %edx
	imull	$-2073254261, %edx, %edx
	movl	%edx, %eax
	shrl	$16, %eax
	xorl	%edx, %eax
	ret
	.size	mix, .-mix
	.p2align 6
	.globl	sum_hashes
	.type	sum_hashes, @function
sum_hashes:
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	testq	%rsi, %rsi
	je	.L7
	movq	%rdi, %r14
	movq	%rsi, %rbp
	movl	%edx, %r12d
	xorl	%ebx, %ebx
	xorl	%r13d, %r13d
	.p2align 4,,10
	.p2align 3
.L6:
	movl	(%r14,%rbx,4), %edi
	call	mix
	cmpl	%r12d, (%r14,%rbx,4)
	jnb	.L5
	movl	%eax, %eax
	addq	%rax, %r13
.L5:
	addq	$1, %rbx
	cmpq	%rbx, %rbp
	jne	.L6
	popq	%rbx
	movq	%r13, %rax
	popq	%rbp
	popq	%r12
	popq	%r13
	popq	%r14
	ret
	.p2align 4,,10
	.p2align 3
.L7:
	xorl	%r13d, %r13d
	popq	%rbx
	popq	%rbp
	movq	%r13, %rax
	popq	%r12
	popq	%r13
	popq	%r14
	ret
	.size	sum_hashes, .-sum_hashes
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
