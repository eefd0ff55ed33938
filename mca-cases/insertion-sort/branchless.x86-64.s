	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sort_all
	.type	sort_all, @function
sort_all:
	testq	%rsi, %rsi
	je	.L15
	pushq	%r13
	movq	%rdi, %r9
	movq	%rdx, %r13
	movq	%rcx, %r10
	pushq	%r12
	xorl	%r11d, %r11d
	movq	%rsi, %r12
	pushq	%rbp
	pushq	%rbx
	leaq	0(,%rdx,4), %rbx
	leaq	(%rdi,%rbx), %rbp
	movq	%rbp, %rdi
	.p2align 4,,10
	.p2align 3
.L3:
	testq	%r13, %r13
	je	.L5
	movq	%r9, %r8
	.p2align 4,,10
	.p2align 3
.L6:
	movl	(%r8), %esi
	movq	%r9, %rax
	xorl	%edx, %edx
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	cmpl	%esi, (%rax)
	setl	%cl
	addq	$4, %rax
	addq	%rcx, %rdx
	cmpq	%rax, %rdi
	jne	.L4
	addq	$4, %r8
	movl	%esi, (%r10,%rdx,4)
	cmpq	%r8, %rdi
	jne	.L6
.L5:
	addq	$1, %r11
	movq	%rbp, %r9
	addq	%rbx, %r10
	addq	%rbx, %rdi
	cmpq	%r11, %r12
	je	.L1
	addq	%rbx, %rbp
	jmp	.L3
.L1:
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	ret
.L15:
	ret
	.size	sort_all, .-sort_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
