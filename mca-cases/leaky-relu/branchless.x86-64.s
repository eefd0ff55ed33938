	.file	"branchless.c"
	.text
	.p2align 6
	.globl	leaky_relu
	.type	leaky_relu, @function
leaky_relu:
	movl	$0x3f800000, -8(%rsp)
	movss	%xmm0, -4(%rsp)
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	pxor	%xmm1, %xmm1
	.p2align 4,,10
	.p2align 3
.L3:
	movss	(%rdi,%rax,4), %xmm0
	xorl	%ecx, %ecx
	comiss	%xmm0, %xmm1
	seta	%cl
	mulss	-8(%rsp,%rcx,4), %xmm0
	movss	%xmm0, (%rdx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L3
.L1:
	ret
	.size	leaky_relu, .-leaky_relu
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
