	.file	"branchy.c"
	.text
	.p2align 6
	.globl	filter_rows
	.type	filter_rows, @function
filter_rows:
	pushq	%rbp
	movq	%rsi, %r9
	pushq	%rbx
	testq	%rsi, %rsi
	je	.L7
	movq	%rdx, %r10
	movq	%rcx, %rsi
	leaq	0(,%rcx,4), %rbp
	xorl	%ebx, %ebx
	xorl	%r11d, %r11d
	.p2align 4,,10
	.p2align 3
.L3:
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	testq	%rsi, %rsi
	je	.L6
	.p2align 4,,10
	.p2align 3
.L5:
	movl	(%rdi,%rax,4), %edx
	cmpl	%r8d, %edx
	jle	.L4
	imull	(%r10,%rax,4), %edx
	addl	%edx, %ecx
.L4:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L5
	sarl	$4, %ecx
	movslq	%ecx, %rcx
	addq	%rcx, %rbx
.L6:
	addq	$1, %r11
	addq	%rbp, %rdi
	cmpq	%r11, %r9
	jne	.L3
	movq	%rbx, %rax
	popq	%rbx
	popq	%rbp
	ret
.L7:
	xorl	%ebx, %ebx
	movq	%rbx, %rax
	popq	%rbx
	popq	%rbp
	ret
	.size	filter_rows, .-filter_rows
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
