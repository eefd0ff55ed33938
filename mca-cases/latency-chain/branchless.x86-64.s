	.file	"branchless.c"
	.text
	.p2align 6
	.globl	mix_all
	.type	mix_all, @function
mix_all:
	testq	%rsi, %rsi
	je	.L4
	movabsq	$-7046029254386353131, %r9
	addq	%rdi, %rsi
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	(%rdi), %ecx
	movq	%rax, %r8
	addq	$1, %rdi
	shrq	$29, %r8
	movl	%ecx, %edx
	shrb	$7, %dl
	movzbl	%dl, %edx
	negq	%rdx
	andq	%r8, %rdx
	xorq	%rax, %rdx
	leaq	(%rdx,%rcx), %rax
	imulq	%r9, %rax
	cmpq	%rdi, %rsi
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%eax, %eax
	ret
	.size	mix_all, .-mix_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
