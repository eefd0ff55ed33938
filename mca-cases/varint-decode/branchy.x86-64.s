	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_varints
	.type	sum_varints, @function
sum_varints:
	testq	%rsi, %rsi
	je	.L5
	xorl	%r9d, %r9d
	xorl	%r10d, %r10d
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	(%rdi), %edx
	addq	$1, %rdi
	movl	%edx, %eax
	andl	$127, %eax
	sall	%cl, %eax
	addl	$7, %ecx
	orl	%eax, %r8d
	testb	%dl, %dl
	js	.L3
	addq	$1, %r9
	addq	%r8, %r10
	cmpq	%r9, %rsi
	jne	.L4
	movq	%r10, %rax
	ret
.L5:
	xorl	%r10d, %r10d
	movq	%r10, %rax
	ret
	.size	sum_varints, .-sum_varints
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
