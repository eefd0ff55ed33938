	.file	"branchless.c"
	.text
	.p2align 6
	.globl	sum_absolute
	.type	sum_absolute, @function
sum_absolute:
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,4), %rsi
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	movl	(%rdi), %eax
	addq	$4, %rdi
	cltd
	xorl	%edx, %eax
	subl	%edx, %eax
	cltq
	addq	%rax, %rcx
	cmpq	%rdi, %rsi
	jne	.L3
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	sum_absolute, .-sum_absolute
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
