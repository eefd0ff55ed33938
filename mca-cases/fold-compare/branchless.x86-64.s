	.file	"branchless.c"
	.text
	.p2align 6
	.globl	differences
	.type	differences, @function
differences:
	testq	%rdx, %rdx
	je	.L4
	xorl	%eax, %eax
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	(%rsi,%rax), %r9d
	movzbl	(%rdi,%rax), %r10d
	movzbl	(%rcx,%r9), %r11d
	xorl	%r9d, %r9d
	cmpb	%r11b, (%rcx,%r10)
	setne	%r9b
	addq	$1, %rax
	addq	%r9, %r8
	cmpq	%rax, %rdx
	jne	.L3
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	differences, .-differences
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
