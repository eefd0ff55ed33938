	.file	"branchless.c"
	.text
	.p2align 6
	.globl	lower_case
	.type	lower_case, @function
lower_case:
	testq	%rsi, %rsi
	je	.L1
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	(%rdi,%rcx), %r8d
	leal	-65(%r8), %eax
	cmpb	$25, %al
	setbe	%al
	sall	$5, %eax
	addl	%r8d, %eax
	movb	%al, (%rdx,%rcx)
	addq	$1, %rcx
	cmpq	%rcx, %rsi
	jne	.L3
.L1:
	ret
	.size	lower_case, .-lower_case
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
