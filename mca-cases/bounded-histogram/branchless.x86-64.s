	.file	"branchless.c"
	.text
	.p2align 6
	.globl	histogram
	.type	histogram, @function
histogram:
	testq	%rsi, %rsi
	je	.L1
	leaq	(%rdi,%rsi,4), %r8
	movl	$256, %esi
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi), %eax
	movq	%rax, %rcx
	salq	$2, %rax
	cmpl	$64, %ecx
	cmovnb	%rsi, %rax
	addq	$4, %rdi
	addl	$1, (%rdx,%rax)
	cmpq	%rdi, %r8
	jne	.L4
.L1:
	ret
	.size	histogram, .-histogram
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
