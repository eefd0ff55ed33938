	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sums
	.type	sums, @function
sums:
	xorl	%eax, %eax
	testq	%rsi, %rsi
	je	.L6
	xorl	%r8d, %r8d
	xorl	%r9d, %r9d
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L3:
	addq	$1, %rax
	addq	%rcx, %r8
	cmpq	%rax, %rsi
	je	.L9
.L5:
	movslq	(%rdi,%rax,4), %rcx
	testl	%ecx, %ecx
	jns	.L3
	addq	$1, %rax
	addq	%rcx, %r9
	cmpq	%rax, %rsi
	jne	.L5
.L9:
	leaq	(%r9,%r9,2), %rax
	addq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	ret
	.size	sums, .-sums
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
