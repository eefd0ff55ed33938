	.file	"branchy.c"
	.text
	.p2align 6
	.globl	crc
	.type	crc, @function
crc:
	testq	%rsi, %rsi
	je	.L7
	leaq	(%rdi,%rsi), %r8
	movl	$-1, %eax
	.p2align 4,,10
	.p2align 3
.L6:
	movzbl	(%rdi), %ecx
	xorl	%ecx, %eax
	movl	$8, %ecx
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L12:
	xorl	%edx, %eax
	subl	$1, %ecx
	je	.L11
.L5:
	movl	%eax, %esi
	shrl	%eax
	andl	$1, %esi
	testl	%esi, %esi
	jne	.L12
	subl	$1, %ecx
	jne	.L5
.L11:
	addq	$1, %rdi
	cmpq	%rdi, %r8
	jne	.L6
	notl	%eax
	ret
.L7:
	xorl	%eax, %eax
	ret
	.size	crc, .-crc
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
