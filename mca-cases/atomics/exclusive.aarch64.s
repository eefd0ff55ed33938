	.arch armv8-a
	.file	"operations.c"
	.text
	.align	2
	.p2align 4,,11
	.global	add
	.type	add, %function
add:
	mov	x2, x0
.L3:
	ldxr	x0, [x2]
	add	x3, x0, x1
	stxr	w4, x3, [x2]
	cbnz	w4, .L3
	ret
	.size	add, .-add
	.align	2
	.p2align 4,,11
	.global	swap
	.type	swap, %function
swap:
	mov	x2, x0
.L5:
	ldaxr	x0, [x2]
	stlxr	w3, x1, [x2]
	cbnz	w3, .L5
	ret
	.size	swap, .-swap
	.align	2
	.p2align 4,,11
	.global	push
	.type	push, %function
push:
.L7:
	ldxr	x3, [x0]
	cmp	x3, x1
	bne	.L8
	stlxr	w4, x2, [x0]
	cbnz	w4, .L7
.L8:
	cset	w0, eq
	ret
	.size	push, .-push
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
