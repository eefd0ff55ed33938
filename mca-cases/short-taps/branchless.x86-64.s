	.file	"branchless.c"
	.text
	.p2align 6
	.globl	filter_rows
	.type	filter_rows, @function
filter_rows:
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	testq	%rsi, %rsi
	je	.L6
	movq	%rsi, %r11
	movq	%rdx, %r10
	movq	%rcx, %r9
	xorl	%ebx, %ebx
	leaq	0(,%rcx,4), %r12
	xorl	%ebp, %ebp
	.p2align 4,,10
	.p2align 3
.L3:
	xorl	%eax, %eax
	xorl	%esi, %esi
	testq	%r9, %r9
	je	.L5
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %ecx
	movl	(%r10,%rax,4), %edx
	imull	%ecx, %edx
	cmpl	%r8d, %ecx
	setg	%cl
	addq	$1, %rax
	movzbl	%cl, %ecx
	negl	%ecx
	andl	%ecx, %edx
	addl	%edx, %esi
	cmpq	%rax, %r9
	jne	.L4
	sarl	$4, %esi
	movslq	%esi, %rsi
	addq	%rsi, %rbp
.L5:
	addq	$1, %rbx
	addq	%r12, %rdi
	cmpq	%rbx, %r11
	jne	.L3
	movq	%rbp, %rax
	popq	%rbx
	popq	%rbp
	popq	%r12
	ret
.L6:
	xorl	%ebp, %ebp
	popq	%rbx
	movq	%rbp, %rax
	popq	%rbp
	popq	%r12
	ret
	.size	filter_rows, .-filter_rows
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
