	.file	"branchy.c"
	.text
	.p2align 6
	.globl	bubble
	.type	bubble, @function
bubble:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %edx
	addq	$1, %rax
	movl	(%rdi,%rax,4), %ecx
	cmpl	%ecx, %edx
	jle	.L3
	movl	%ecx, -4(%rdi,%rax,4)
	movl	%edx, (%rdi,%rax,4)
.L3:
	cmpq	%rsi, %rax
	jne	.L4
.L1:
	ret
	.size	bubble, .-bubble
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
