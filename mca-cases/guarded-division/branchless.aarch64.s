	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_quotients
	.type	sum_quotients, %function
sum_quotients:
	mov	x7, x0
	cbz	x2, .L4
	mov	x5, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldr	w6, [x1, x5, lsl 2]
	ldr	w4, [x7, x5, lsl 2]
	add	x5, x5, 1
	cmp	w6, 0
	cset	w3, eq
	add	w6, w6, w3
	sub	w3, w3, #1
	udiv	w4, w4, w6
	and	w3, w4, w3
	add	x0, x0, x3
	cmp	x2, x5
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	sum_quotients, .-sum_quotients
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
