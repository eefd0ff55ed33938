	.file	"branchy.c"
	.text
	.p2align 6
	.globl	count_before
	.type	count_before, @function
count_before:
	testq	%rdx, %rdx
	je	.L7
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	xorl	%r8d, %r8d
	jmp	.L6
	.p2align 4,,10
	.p2align 3
.L3:
	jg	.L11
	movq	8(%rsi,%rax), %r10
	cmpq	%r10, 8(%rdi,%rax)
	jl	.L9
.L4:
	addq	$1, %rcx
	addq	$16, %rax
	cmpq	%rcx, %rdx
	je	.L1
.L6:
	movq	(%rsi,%rax), %r9
	cmpq	%r9, (%rdi,%rax)
	jge	.L3
.L9:
	addq	$1, %rcx
	addq	$1, %r8
	addq	$16, %rax
	cmpq	%rcx, %rdx
	jne	.L6
.L1:
	movq	%r8, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L11:
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L7:
	xorl	%r8d, %r8d
	movq	%r8, %rax
	ret
	.size	count_before, .-count_before
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
