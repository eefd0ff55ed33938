	.file	"branchy.c"
	.text
	.p2align 6
	.globl	police
	.type	police, @function
police:
	testq	%rsi, %rsi
	je	.L6
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	xorl	%r9d, %r9d
	.p2align 4,,10
	.p2align 3
.L5:
	addl	(%rdi,%rcx,8), %eax
	cmpl	%eax, %edx
	jnb	.L3
	movl	%edx, %eax
.L3:
	movl	4(%rdi,%rcx,8), %r8d
	cmpl	%r8d, %eax
	jb	.L4
	subl	%r8d, %eax
	addq	%r8, %r9
.L4:
	addq	$1, %rcx
	cmpq	%rcx, %rsi
	jne	.L5
	movq	%r9, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	xorl	%r9d, %r9d
	movq	%r9, %rax
	ret
	.size	police, .-police
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
