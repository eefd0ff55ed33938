	.file	"branchy.c"
	.text
	.p2align 6
	.globl	partition
	.type	partition, @function
partition:
	testq	%rsi, %rsi
	je	.L5
	xorl	%eax, %eax
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi,%rax,4), %ecx
	cmpl	%edx, %ecx
	jge	.L3
	leaq	(%rdi,%r8,4), %r9
	addq	$1, %r8
	movl	(%r9), %r10d
	movl	%r10d, (%rdi,%rax,4)
	movl	%ecx, (%r9)
.L3:
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L4
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	partition, .-partition
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
