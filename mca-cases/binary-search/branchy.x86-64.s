	.file	"branchy.c"
	.text
	.p2align 6
	.globl	search_all
	.type	search_all, @function
search_all:
	testq	%rcx, %rcx
	je	.L8
	pushq	%rbp
	movq	%rdi, %r10
	movq	%rdx, %rbp
	xorl	%r11d, %r11d
	pushq	%rbx
	xorl	%edx, %edx
	movl	%esi, %ebx
	.p2align 4,,10
	.p2align 3
.L7:
	movl	0(%rbp,%r11,4), %r9d
	testl	%ebx, %ebx
	je	.L3
	movl	%ebx, %edi
	xorl	%esi, %esi
	jmp	.L6
	.p2align 4,,10
	.p2align 3
.L20:
	leal	1(%rax), %esi
	cmpl	%edi, %esi
	jnb	.L19
.L6:
	leal	(%rsi,%rdi), %eax
	shrl	%eax
	movl	%eax, %r8d
	cmpl	%r9d, (%r10,%r8,4)
	jb	.L20
	movl	%eax, %edi
	cmpl	%edi, %esi
	jb	.L6
.L19:
	addq	%rsi, %rdx
.L3:
	addq	$1, %r11
	cmpq	%r11, %rcx
	jne	.L7
	movq	%rdx, %rax
	popq	%rbx
	popq	%rbp
	ret
.L8:
	xorl	%eax, %eax
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
