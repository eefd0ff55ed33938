	.file	"branchy.c"
	.text
	.p2align 6
	.globl	count_runs
	.type	count_runs, @function
count_runs:
	testq	%rsi, %rsi
	je	.L5
	addq	%rdi, %rsi
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L4:
	movl	%eax, %edx
	movzbl	(%rdi), %eax
	cmpb	%dl, %al
	je	.L3
	addq	$1, %rcx
.L3:
	addq	$1, %rdi
	cmpq	%rsi, %rdi
	jne	.L4
	movq	%rcx, %rax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%ecx, %ecx
	movq	%rcx, %rax
	ret
	.size	count_runs, .-count_runs
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
