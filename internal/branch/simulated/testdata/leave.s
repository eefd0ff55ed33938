	.text
	.globl tail, other, main, selfloop, thru, plt
	.type other,@function
other:	addl $1, %eax
	ret
	.size other,.-other
	.type tail,@function
tail:	testl $1, %edi
	jne other
	xorl %eax, %eax
	ret
	.size tail,.-tail
	.type selfloop,@function
selfloop:
	decl %edi
	jne selfloop
	ret
	.size selfloop,.-selfloop
	.type thru,@function
thru:	testl $3, %edi
	jne .Lx
	.type inside,@function
inside:
	nop
	xorl %eax, %eax
	ret
.Lx:	movl $1, %eax
	ret
	.size thru,.-thru
	.size inside,.-inside
	.type plt,@function
plt:	movl %edi, %ecx
	testl $1, %ecx
	movl $-7, %edi
	je abs@plt
	xorl %eax, %eax
	ret
	.size plt,.-plt
	.type hot,@function
hot:	testl $7, %edi
	je .Lcold
	xorl %eax, %eax
	ret
	.size hot,.-hot
	.type repl,@function
repl:	movl $3, %ecx
	leaq buf(%rip), %rdi
	leaq buf(%rip), %rsi
	rep movsb
	movl $3, %ecx
	leaq buf(%rip), %rdi
	movl $1, %eax
	repne scasb
	ret
	.size repl,.-repl
	.type main,@function
main:	pushq %rbx
	movl $1000, %ebx
.L1:	movl %ebx, %edi
	call tail
	movl $5, %edi
	call selfloop
	movl %ebx, %edi
	call thru
	movl %ebx, %edi
	call plt
	movl %ebx, %edi
	call hot
	call repl
	decl %ebx
	jne .L1
	xorl %eax, %eax
	popq %rbx
	ret
	.size main,.-main
	.section .text.unlikely,"ax"
	.type hot.cold,@function
	nop
hot.cold:
	nop
.Lcold:	movl $2, %eax
	ret
	.data
buf:	.zero 64
	.section .note.GNU-stack,"",@progbits
