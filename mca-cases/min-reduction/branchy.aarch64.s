	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	min_reduce
	.type	min_reduce, %function
min_reduce:
	mov	x4, x0
	cbz	x1, .L5
	mov	x2, 0
	mov	w0, 2147483647
	.p2align 3,,7
.L4:
	ldr	w3, [x4, x2, lsl 2]
	cmp	w3, w0
	bge	.L3
	mov	w0, w3
.L3:
	add	x2, x2, 1
	cmp	x1, x2
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	w0, 2147483647
	ret
	.size	min_reduce, .-min_reduce
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
