	.file	"branchy.c"
	.text
	.p2align 6
	.globl	insert_all
	.type	insert_all, @function
insert_all:
	movq	%rdi, %r8
	movq	%rsi, %r9
	testq	%rdx, %rdx
	je	.L5
	xorl	%eax, %eax
	xorl	%r10d, %r10d
	movl	$1, %r11d
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%r9,%rax,4), %ecx
	movq	%r11, %rdi
	movl	%ecx, %esi
	salq	%cl, %rdi
	shrl	$6, %esi
	leaq	(%r8,%rsi,8), %rsi
	movq	(%rsi), %rcx
	testq	%rdi, %rcx
	jne	.L3
	orq	%rdi, %rcx
	addq	$1, %r10
	movq	%rcx, (%rsi)
.L3:
	addq	$1, %rax
	cmpq	%rax, %rdx
	jne	.L4
	movq	%r10, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r10d, %r10d
	movq	%r10, %rax
	ret
	.size	insert_all, .-insert_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
