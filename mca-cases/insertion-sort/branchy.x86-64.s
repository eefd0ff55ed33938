	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sort_all
	.type	sort_all, @function
sort_all:
	testq	%rsi, %rsi
	je	.L17
	pushq	%r13
	movq	%rdx, %r11
	movq	%rcx, %r8
	leaq	0(,%rdx,4), %r13
	pushq	%r12
	xorl	%r12d, %r12d
	pushq	%rbp
	movq	%rsi, %rbp
	pushq	%rbx
	movq	%rdi, %rbx
	.p2align 4,,10
	.p2align 3
.L3:
	testq	%r11, %r11
	je	.L7
	movl	(%rbx), %ecx
	movq	%rbx, %rdi
	movq	%r8, %r10
	movq	%r8, %rsi
	xorl	%r9d, %r9d
	.p2align 4,,10
	.p2align 3
.L8:
	addq	$1, %r9
	movl	%ecx, (%rsi)
	addq	$4, %rdi
	addq	$4, %r10
	cmpq	%r9, %r11
	je	.L7
	movq	%r10, %rax
	.p2align 4,,10
	.p2align 3
.L4:
	movl	-4(%rax), %edx
	movl	(%rdi), %ecx
	movq	%rax, %rsi
	cmpl	%ecx, %edx
	jle	.L8
	movl	%edx, (%rax)
	leaq	-4(%rsi), %rax
	cmpq	%rax, %r8
	jne	.L4
	movl	(%rdi), %ecx
	movq	%r8, %rsi
	jmp	.L8
	.p2align 4,,10
	.p2align 3
.L7:
	addq	$1, %r12
	addq	%r13, %rbx
	addq	%r13, %r8
	cmpq	%r12, %rbp
	jne	.L3
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	ret
.L17:
	ret
	.size	sort_all, .-sort_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
