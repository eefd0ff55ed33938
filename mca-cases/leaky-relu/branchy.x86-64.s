	.file	"branchy.c"
	.text
	.p2align 6
	.globl	leaky_relu
	.type	leaky_relu, @function
leaky_relu:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	pxor	%xmm2, %xmm2
	.p2align 4,,10
	.p2align 3
.L5:
	movss	(%rdi,%rax,4), %xmm1
	comiss	%xmm1, %xmm2
	jbe	.L3
	mulss	%xmm0, %xmm1
.L3:
	movss	%xmm1, (%rdx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L5
.L1:
	ret
	.size	leaky_relu, .-leaky_relu
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
