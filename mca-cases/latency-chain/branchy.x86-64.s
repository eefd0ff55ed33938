	.file	"branchy.c"
	.text
	.p2align 6
	.globl	mix_all
	.type	mix_all, @function
mix_all:
	testq	%rsi, %rsi
	je	.L5
	movabsq	$-7046029254386353131, %rcx
	addq	%rdi, %rsi
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	(%rdi), %edx
	testb	%dl, %dl
	jns	.L3
	movq	%rax, %r8
	shrq	$29, %r8
	xorq	%r8, %rax
.L3:
	addq	%rdx, %rax
	addq	$1, %rdi
	imulq	%rcx, %rax
	cmpq	%rsi, %rdi
	jne	.L4
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%eax, %eax
	ret
	.size	mix_all, .-mix_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
