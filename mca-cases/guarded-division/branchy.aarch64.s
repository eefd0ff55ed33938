	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_quotients
	.type	sum_quotients, %function
sum_quotients:
	mov	x6, x0
	cbz	x2, .L5
	mov	x3, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	ldr	w4, [x1, x3, lsl 2]
	cbz	w4, .L3
	ldr	w5, [x6, x3, lsl 2]
	udiv	w4, w5, w4
	add	x0, x0, x4
.L3:
	add	x3, x3, 1
	cmp	x2, x3
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	sum_quotients, .-sum_quotients
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
