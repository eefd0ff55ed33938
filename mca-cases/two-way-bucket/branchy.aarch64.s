	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_values
	.type	sum_values, %function
sum_values:
	mov	x7, x0
	cbz	x3, .L6
	mov	x5, 0
	mov	x0, 0
	b	.L5
	.p2align 2,,3
.L3:
	ldr	w4, [x8, 12]
	add	x5, x5, 1
	add	x0, x0, x4
	cmp	x3, x5
	beq	.L1
.L5:
	ldr	w6, [x2, x5, lsl 2]
	and	w4, w6, w1
	lsl	x4, x4, 4
	add	x8, x7, x4
	ldr	w4, [x7, x4]
	cmp	w6, w4
	bne	.L3
	ldr	w4, [x8, 8]
	add	x5, x5, 1
	add	x0, x0, x4
	cmp	x3, x5
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L6:
	mov	x0, 0
	ret
	.size	sum_values, .-sum_values
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
