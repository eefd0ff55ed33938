	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_absolute
	.type	sum_absolute, %function
sum_absolute:
	mov	x5, x0
	cbz	x1, .L6
	mov	x2, 0
	mov	x0, 0
	b	.L5
	.p2align 2,,3
.L3:
	add	x2, x2, 1
	add	x0, x0, x4
	cmp	x1, x2
	beq	.L1
.L5:
	ldr	w3, [x5, x2, lsl 2]
	sxtw	x4, w3
	tbz	w3, #31, .L3
	add	x2, x2, 1
	sub	x0, x0, x4
	cmp	x1, x2
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L6:
	mov	x0, 0
	ret
	.size	sum_absolute, .-sum_absolute
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
