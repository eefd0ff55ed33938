	.file	"branchy.c"
	.text
	.p2align 6
	.globl	round_all
	.type	round_all, @function
round_all:
	testq	%rsi, %rsi
	je	.L1
	xorl	%eax, %eax
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L3:
	je	.L15
.L4:
	movw	%r8w, (%rdx,%rax,2)
	addq	$1, %rax
	cmpq	%rax, %rsi
	je	.L1
.L5:
	movl	(%rdi,%rax,4), %ecx
	movl	%ecx, %r8d
	movzbl	%cl, %ecx
	sarl	$8, %r8d
	cmpl	$128, %ecx
	jle	.L3
	addl	$1, %r8d
.L16:
	movw	%r8w, (%rdx,%rax,2)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L5
.L1:
	ret
	.p2align 4,,10
	.p2align 3
.L15:
	testb	$1, %r8b
	je	.L4
	addl	$1, %r8d
	jmp	.L16
	.size	round_all, .-round_all
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
