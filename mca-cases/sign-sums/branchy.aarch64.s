	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sums
	.type	sums, %function
sums:
	cbz	x1, .L6
	mov	x2, 0
	mov	x6, 0
	mov	x5, 0
	b	.L5
	.p2align 2,,3
.L3:
	add	x2, x2, 1
	add	x6, x6, x4
	cmp	x1, x2
	beq	.L9
.L5:
	ldr	w3, [x0, x2, lsl 2]
	sxtw	x4, w3
	tbz	w3, #31, .L3
	add	x2, x2, 1
	add	x5, x5, x4
	cmp	x1, x2
	bne	.L5
.L9:
	add	x5, x5, x5, lsl 1
	add	x0, x5, x6
	ret
	.p2align 2,,3
.L6:
	mov	x0, 0
	ret
	.size	sums, .-sums
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
