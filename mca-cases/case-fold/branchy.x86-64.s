	.file	"branchy.c"
	.text
	.p2align 6
	.globl	lower_case
	.type	lower_case, @function
lower_case:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	(%rdi,%rax), %ecx
	leal	-65(%rcx), %r8d
	cmpb	$25, %r8b
	ja	.L3
	addl	$32, %ecx
.L3:
	movb	%cl, (%rdx,%rax)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
.L1:
	ret
	.size	lower_case, .-lower_case
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
