	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sums
	.type	sums, %function
sums:
	cbz	x1, .L4
	add	x6, x0, x1, lsl 2
	mov	x4, 0
	mov	x3, 0
	.p2align 3,,7
.L3:
	ldr	w2, [x0], 4
	asr	w1, w2, 31
	and	w5, w2, w1
	bic	w1, w2, w1
	add	x3, x3, w5, sxtw
	add	x4, x4, w1, sxtw
	cmp	x6, x0
	bne	.L3
	add	x3, x3, x3, lsl 1
	add	x0, x3, x4
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	sums, .-sums
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
