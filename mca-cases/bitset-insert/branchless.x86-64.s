	.file	"branchless.c"
	.text
	.p2align 6
	.globl	insert_all
	.type	insert_all, @function
insert_all:
	movq	%rdi, %r8
	testq	%rdx, %rdx
	je	.L4
	leaq	(%rsi,%rdx,4), %r10
	xorl	%edi, %edi
	movl	$1, %r9d
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rsi), %ecx
	movq	%r9, %rdx
	addq	$4, %rsi
	movl	%ecx, %eax
	salq	%cl, %rdx
	shrl	$6, %eax
	leaq	(%r8,%rax,8), %r11
	movq	(%r11), %rax
	orq	%rax, %rdx
	notq	%rax
	shrq	%cl, %rax
	movq	%rdx, (%r11)
	andl	$1, %eax
	addq	%rax, %rdi
	cmpq	%rsi, %r10
	jne	.L3
	movq	%rdi, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%edi, %edi
	movq	%rdi, %rax
	ret
	.size	insert_all, .-insert_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
