	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sift_all
	.type	sift_all, @function
sift_all:
	testq	%rsi, %rsi
	je	.L16
	pushq	%r15
	leaq	(%rdx,%rdx), %r9
	movq	%rsi, %r10
	xorl	%esi, %esi
	pushq	%r14
	movq	%r10, %r8
	pushq	%r13
	movq	%rdx, %r13
	pushq	%r12
	movq	%rcx, %r12
	leaq	2(%rdi), %rcx
	pushq	%rbp
	pushq	%rbx
	movq	%r9, -8(%rsp)
	.p2align 4,,10
	.p2align 3
.L6:
	movzwl	(%r12), %r11d
	leaq	-2(%rcx), %r9
	movl	$2, %edx
	movq	%rcx, %rbx
	movl	$1, %r14d
	movl	%r11d, %r15d
	cmpq	$2, %r13
	jbe	.L4
	movq	%rsi, -16(%rsp)
	jmp	.L3
	.p2align 4,,10
	.p2align 3
.L21:
	movl	%ebp, %eax
	movq	%rbx, %r10
	leaq	(%r9,%r14,2), %rbx
	movq	%rsi, %rdx
	cmpw	%r15w, %ax
	jnb	.L14
.L22:
	movw	%ax, (%rbx)
	cmpq	%r13, %rdx
	jnb	.L20
	movzwl	(%r12), %r15d
	movq	%rdi, %r14
.L3:
	leaq	1(%rdx), %rdi
	leaq	(%rdi,%rdi), %rsi
	leaq	-2(%rsi), %r11
	leaq	(%r9,%rsi), %rbx
	leaq	(%r9,%r11), %r10
	movzwl	(%rbx), %ebp
	movzwl	(%r10), %eax
	cmpw	%ax, %bp
	jb	.L21
	movq	%rdx, %rdi
	leaq	(%r9,%r14,2), %rbx
	movq	%r11, %rdx
	cmpw	%r15w, %ax
	jb	.L22
.L14:
	movq	-16(%rsp), %rsi
	movl	%r15d, %r11d
.L4:
	movq	-8(%rsp), %rax
	addq	$1, %rsi
	movw	%r11w, (%rbx)
	addq	$2, %r12
	addq	%rax, %rcx
	cmpq	%rsi, %r8
	jne	.L6
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	ret
	.p2align 4,,10
	.p2align 3
.L20:
	movq	-16(%rsp), %rsi
	movzwl	(%r12), %r11d
	movq	%r10, %rbx
	jmp	.L4
.L16:
	ret
	.size	sift_all, .-sift_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
