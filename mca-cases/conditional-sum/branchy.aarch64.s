	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_below
	.type	sum_below, %function
sum_below:
	mov	x5, x0
	cbz	x1, .L5
	mov	x3, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	ldr	w4, [x5, x3, lsl 2]
	cmp	w4, w2
	bge	.L3
	add	x0, x0, w4, sxtw
.L3:
	add	x3, x3, 1
	cmp	x1, x3
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	sum_below, .-sum_below
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
