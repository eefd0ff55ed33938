	.file	"branchy.c"
	.text
	.p2align 6
	.globl	histogram
	.type	histogram, @function
histogram:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %ecx
	cmpl	$63, %ecx
	ja	.L3
	addl	$1, (%rdx,%rcx,4)
.L3:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
.L1:
	ret
	.size	histogram, .-histogram
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
