	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sift_all
	.type	sift_all, @function
sift_all:
	testq	%rsi, %rsi
	je	.L13
	pushq	%r13
	movq	%rcx, %r11
	leaq	(%rdx,%rdx), %r13
	pushq	%r12
	leaq	(%rcx,%rsi,2), %r12
	pushq	%rbp
	leaq	2(%rdi), %rbp
	pushq	%rbx
	movq	%rdx, %rbx
	.p2align 4,,10
	.p2align 3
.L5:
	movzwl	(%r11), %edi
	leaq	-2(%rbp), %rdx
	movl	$2, %eax
	movl	$1, %ecx
	movl	%edi, %r8d
	cmpq	$2, %rbx
	ja	.L3
	jmp	.L17
	.p2align 4,,10
	.p2align 3
.L18:
	movw	%si, (%r8)
	cmpq	%rbx, %rax
	jnb	.L11
	movzwl	(%r11), %r8d
.L3:
	movzwl	(%rdx,%rax,2), %edi
	cmpw	%di, 2(%rdx,%rax,2)
	movq	%rcx, %r10
	movl	%r8d, %edi
	adcq	$0, %rax
	leaq	(%rdx,%r10,2), %r8
	movq	%rax, %rcx
	leaq	(%rax,%rax), %rax
	leaq	(%rdx,%rax), %r9
	movzwl	(%r9), %esi
	cmpw	%di, %si
	jb	.L18
	addq	$2, %r11
	movw	%di, (%r8)
	addq	%r13, %rbp
	cmpq	%r11, %r12
	jne	.L5
.L19:
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	ret
	.p2align 4,,10
	.p2align 3
.L11:
	movzwl	(%r11), %edi
	movq	%r9, %r8
	addq	$2, %r11
	addq	%r13, %rbp
	movw	%di, (%r8)
	cmpq	%r11, %r12
	jne	.L5
	jmp	.L19
.L17:
	movq	%rbp, %r8
	addq	$2, %r11
	addq	%r13, %rbp
	movw	%di, (%r8)
	cmpq	%r11, %r12
	jne	.L5
	jmp	.L19
.L13:
	ret
	.size	sift_all, .-sift_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
