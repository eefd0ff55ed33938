	.arch armv8.1-a+crc
	.file	"operations.c"
	.text
	.align	2
	.p2align 4,,11
	.global	add
	.type	add, %function
add:
	ldadd	x1, x0, [x0]
	ret
	.size	add, .-add
	.align	2
	.p2align 4,,11
	.global	swap
	.type	swap, %function
swap:
	swpal	x1, x0, [x0]
	ret
	.size	swap, .-swap
	.align	2
	.p2align 4,,11
	.global	push
	.type	push, %function
push:
	mov	x3, x1
	casl	x3, x2, [x0]
	cmp	x3, x1
	cset	w0, eq
	ret
	.size	push, .-push
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
