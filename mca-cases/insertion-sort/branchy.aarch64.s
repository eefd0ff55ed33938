	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sort_all
	.type	sort_all, %function
sort_all:
	mov	x5, x0
	mov	x11, x1
	mov	x8, x2
	mov	x6, x3
	cbz	x1, .L1
	lsl	x10, x2, 2
	mov	x9, 0
	.p2align 3,,7
.L3:
	cbz	x8, .L7
	ldr	w2, [x5]
	mov	x7, x6
	mov	x3, x6
	mov	x4, 0
	.p2align 3,,7
.L8:
	add	x4, x4, 1
	str	w2, [x3]
	add	x7, x7, 4
	cmp	x8, x4
	beq	.L7
.L9:
	mov	x0, x7
	.p2align 3,,7
.L4:
	ldr	w2, [x5, x4, lsl 2]
	mov	x3, x0
	ldr	w1, [x0, -4]
	cmp	w1, w2
	ble	.L8
	str	w1, [x0]
	sub	x0, x3, #4
	cmp	x6, x0
	bne	.L4
	mov	x3, x6
	ldr	w2, [x5, x4, lsl 2]
	add	x4, x4, 1
	add	x7, x7, 4
	str	w2, [x3]
	cmp	x8, x4
	bne	.L9
.L7:
	add	x9, x9, 1
	add	x5, x5, x10
	add	x6, x6, x10
	cmp	x11, x9
	bne	.L3
.L1:
	ret
	.size	sort_all, .-sort_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
