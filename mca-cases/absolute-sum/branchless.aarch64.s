	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_absolute
	.type	sum_absolute, %function
sum_absolute:
	cbz	x1, .L4
	mov	x2, x0
	mov	x0, 0
	add	x4, x2, x1, lsl 2
	.p2align 3,,7
.L3:
	ldr	w1, [x2], 4
	asr	w3, w1, 31
	eor	w1, w1, w3
	sub	w1, w1, w3
	add	x0, x0, w1, sxtw
	cmp	x4, x2
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	sum_absolute, .-sum_absolute
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
