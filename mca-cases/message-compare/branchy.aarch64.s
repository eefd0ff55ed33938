	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	count_before
	.type	count_before, %function
count_before:
	mov	x7, x0
	cbz	x2, .L7
	add	x9, x0, 8
	add	x8, x1, 8
	mov	x3, 0
	mov	x4, 0
	mov	x0, 0
	b	.L6
	.p2align 2,,3
.L3:
	bgt	.L11
	ldr	x6, [x9, x3]
	ldr	x5, [x8, x3]
	cmp	x6, x5
	blt	.L9
.L4:
	add	x4, x4, 1
	add	x3, x3, 16
	cmp	x2, x4
	beq	.L1
.L6:
	ldr	x6, [x7, x3]
	ldr	x5, [x1, x3]
	cmp	x6, x5
	bge	.L3
.L9:
	add	x4, x4, 1
	add	x0, x0, 1
	add	x3, x3, 16
	cmp	x2, x4
	bne	.L6
.L1:
	ret
	.p2align 2,,3
.L11:
	b	.L4
	.p2align 2,,3
.L7:
	mov	x0, 0
	ret
	.size	count_before, .-count_before
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
