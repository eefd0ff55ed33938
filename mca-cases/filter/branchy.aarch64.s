	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	keep_below
	.type	keep_below, %function
keep_below:
	mov	x6, x0
	cbz	x1, .L5
	mov	x4, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	ldr	w5, [x6, x4, lsl 2]
	cmp	w5, w2
	bge	.L3
	str	w5, [x3, x0, lsl 2]
	add	x0, x0, 1
.L3:
	add	x4, x4, 1
	cmp	x1, x4
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	keep_below, .-keep_below
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
