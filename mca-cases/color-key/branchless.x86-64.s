	.file	"branchless.c"
	.text
	.p2align 6
	.globl	blit
	.type	blit, @function
blit:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movzwl	(%rdi,%rax,2), %r8d
	cmpw	%dx, %r8w
	cmove	(%rcx,%rax,2), %r8w
	movw	%r8w, (%rcx,%rax,2)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
.L1:
	ret
	.size	blit, .-blit
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
