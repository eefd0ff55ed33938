	.file	"branchless.c"
	.text
	.p2align 6
	.globl	police
	.type	police, @function
police:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,8), %r9
	xorl	%ecx, %ecx
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L3:
	addl	(%rdi), %ecx
	movl	4(%rdi), %esi
	cmpl	%edx, %ecx
	cmova	%edx, %ecx
	xorl	%eax, %eax
	cmpl	%esi, %ecx
	setnb	%al
	addq	$8, %rdi
	negl	%eax
	andl	%esi, %eax
	subl	%eax, %ecx
	addq	%rax, %r8
	cmpq	%rdi, %r9
	jne	.L3
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	police, .-police
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
