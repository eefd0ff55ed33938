	.file	"branchy.c"
	.text
	.p2align 6
	.globl	min_reduce
	.type	min_reduce, @function
min_reduce:
	testq	%rsi, %rsi
	je	.L5
	xorl	%eax, %eax
	movl	$2147483647, %ecx
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %edx
	cmpl	%ecx, %edx
	jge	.L3
	movl	%edx, %ecx
.L3:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
	movl	%ecx, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	movl	$2147483647, %ecx
	movl	%ecx, %eax
	ret
	.size	min_reduce, .-min_reduce
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
