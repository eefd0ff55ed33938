	.file	"branchy.c"
	.text
	.p2align 6
	.globl	merge
	.type	merge, @function
merge:
	xorl	%eax, %eax
	testq	%rdx, %rdx
	jne	.L2
	jmp	.L1
	.p2align 4,,10
	.p2align 3
.L10:
	movl	%r8d, (%rcx,%rax,4)
	addq	$1, %rax
	addq	$4, %rsi
	cmpq	%rax, %rdx
	je	.L1
.L2:
	movl	(%rsi), %r8d
	movl	(%rdi), %r9d
	cmpl	%r9d, %r8d
	jl	.L10
	movl	%r9d, %r8d
	addq	$4, %rdi
	movl	%r8d, (%rcx,%rax,4)
	addq	$1, %rax
	cmpq	%rax, %rdx
	jne	.L2
.L1:
	ret
	.size	merge, .-merge
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
