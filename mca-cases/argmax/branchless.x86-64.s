	.file	"branchless.c"
	.text
	.p2align 6
	.globl	argmax
	.type	argmax, @function
argmax:
	testq	%rsi, %rsi
	je	.L5
	xorl	%eax, %eax
	xorl	%r8d, %r8d
	movl	$-2147483648, %edx
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %ecx
	cmpl	%edx, %ecx
	cmovg	%rax, %r8
	cmpl	%ecx, %edx
	cmovl	%ecx, %edx
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	argmax, .-argmax
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
