	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_below
	.type	sum_below, %function
sum_below:
	cbz	x1, .L5
	mov	x3, x0
	mov	x0, 0
	add	x4, x3, x1, lsl 2
	.p2align 3,,7
.L4:
	ldr	w1, [x3], 4
	cmp	w1, w2
	add	x1, x0, w1, sxtw
	csel	x0, x1, x0, lt
	cmp	x3, x4
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	sum_below, .-sum_below
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
