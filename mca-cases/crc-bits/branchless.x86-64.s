	.file	"branchless.c"
	.text
	.p2align 6
	.globl	crc
	.type	crc, @function
crc:
	testq	%rsi, %rsi
	je	.L5
	leaq	(%rdi,%rsi), %r8
	movl	$-1, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	(%rdi), %ecx
	xorl	%ecx, %eax
	movl	$8, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
	movl	%eax, %esi
	andl	$1, %eax
	negl	%eax
	shrl	%esi
	andl	%edx, %eax
	xorl	%esi, %eax
	subl	$1, %ecx
	jne	.L3
	addq	$1, %rdi
	cmpq	%rdi, %r8
	jne	.L4
	notl	%eax
	ret
.L5:
	xorl	%eax, %eax
	ret
	.size	crc, .-crc
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
