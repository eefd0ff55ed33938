	.file	"branchy.c"
	.text
	.p2align 6
	.globl	fill_bucket
	.type	fill_bucket, @function
fill_bucket:
	testq	%rsi, %rsi
	je	.L5
	xorl	%ecx, %ecx
	xorl	%eax, %eax
	xorl	%r8d, %r8d
	.p2align 4,,10
	.p2align 3
.L4:
	addl	(%rdi,%rcx,4), %eax
	cmpl	%edx, %eax
	jle	.L3
	movl	%edx, %eax
.L3:
	movslq	%eax, %r9
	addq	$1, %rcx
	addq	%r9, %r8
	cmpq	%rcx, %rsi
	jne	.L4
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	fill_bucket, .-fill_bucket
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
