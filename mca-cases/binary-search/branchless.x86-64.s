	.file	"branchless.c"
	.text
	.p2align 6
	.globl	search_all
	.type	search_all, @function
search_all:
	pushq	%rbp
	pushq	%rbx
	testq	%rcx, %rcx
	je	.L6
	movq	%rdi, %r10
	movl	%esi, %r11d
	movq	%rdx, %r9
	xorl	%ebx, %ebx
	leaq	(%rdx,%rcx,4), %rbp
	.p2align 4,,10
	.p2align 3
.L5:
	movl	(%r9), %r8d
	movq	%r10, %rsi
	cmpl	$1, %r11d
	jbe	.L7
	movl	%r11d, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movl	%eax, %edx
	shrl	%edx
	leal	-1(%rdx), %ecx
	movl	%edx, %edi
	cmpl	%r8d, (%rsi,%rcx,4)
	sbbq	%rcx, %rcx
	subl	%edx, %eax
	andq	%rdi, %rcx
	leaq	(%rsi,%rcx,4), %rsi
	cmpl	$1, %eax
	ja	.L4
	movq	%rsi, %rax
	subq	%r10, %rax
	sarq	$2, %rax
.L3:
	cmpl	%r8d, (%rsi)
	adcl	$0, %eax
	addq	$4, %r9
	addq	%rax, %rbx
	cmpq	%r9, %rbp
	jne	.L5
	movq	%rbx, %rax
	popq	%rbx
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L7:
	xorl	%eax, %eax
	jmp	.L3
.L6:
	xorl	%ebx, %ebx
	movq	%rbx, %rax
	popq	%rbx
	popq	%rbp
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
