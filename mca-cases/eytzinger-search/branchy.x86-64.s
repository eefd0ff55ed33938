	.file	"branchy.c"
	.text
	.p2align 6
	.globl	search_all
	.type	search_all, @function
search_all:
	testq	%rcx, %rcx
	je	.L8
	xorl	%r10d, %r10d
	xorl	%r11d, %r11d
	.p2align 4,,10
	.p2align 3
.L7:
	movl	(%rdx,%r10,4), %r9d
	movl	$1, %eax
	testq	%rsi, %rsi
	jne	.L6
	jmp	.L3
	.p2align 4,,10
	.p2align 3
.L13:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jb	.L3
.L6:
	movl	(%rdi,%rax,4), %r8d
	addq	%rax, %rax
	cmpl	%r9d, %r8d
	jb	.L13
	cmpq	%rax, %rsi
	jnb	.L6
.L3:
	addq	$1, %r10
	addq	%rax, %r11
	cmpq	%r10, %rcx
	jne	.L7
	movq	%r11, %rax
	ret
.L8:
	xorl	%r11d, %r11d
	movq	%r11, %rax
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
