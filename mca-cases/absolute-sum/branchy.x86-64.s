	.file	"branchy.c"
	.text
	.p2align 6
	.globl	sum_absolute
	.type	sum_absolute, @function
sum_absolute:
	testq	%rsi, %rsi
	je	.L6
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L3:
	addq	$1, %rax
	addq	%r8, %rcx
	cmpq	%rax, %rsi
	je	.L1
.L5:
	movslq	(%rdi,%rax,4), %r8
	testl	%r8d, %r8d
	jns	.L3
	addq	$1, %rax
	subq	%r8, %rcx
	cmpq	%rax, %rsi
	jne	.L5
.L1:
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	sum_absolute, .-sum_absolute
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
