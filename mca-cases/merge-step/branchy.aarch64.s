	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	merge
	.type	merge, %function
merge:
	mov	x4, 0
	cbnz	x2, .L2
	b	.L1
	.p2align 2,,3
.L10:
	str	w5, [x3, x4, lsl 2]
	add	x4, x4, 1
	add	x1, x1, 4
	cmp	x2, x4
	beq	.L1
.L2:
	ldr	w6, [x0]
	ldr	w5, [x1]
	cmp	w5, w6
	blt	.L10
	mov	w5, w6
	str	w5, [x3, x4, lsl 2]
	add	x4, x4, 1
	add	x0, x0, 4
	cmp	x2, x4
	bne	.L2
.L1:
	ret
	.size	merge, .-merge
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
