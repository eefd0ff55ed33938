	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_signs
	.type	sum_signs, %function
sum_signs:
	mov	x4, x0
	cbz	x1, .L6
	mov	x2, 0
	mov	x0, 0
	b	.L5
	.p2align 2,,3
.L9:
	add	x0, x0, 1
.L4:
	add	x2, x2, 1
	cmp	x1, x2
	beq	.L1
.L5:
	ldr	w3, [x4, x2, lsl 2]
	cmp	w3, 0
	bgt	.L9
	beq	.L4
	add	x2, x2, 1
	sub	x0, x0, #1
	cmp	x1, x2
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L6:
	mov	x0, 0
	ret
	.size	sum_signs, .-sum_signs
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
