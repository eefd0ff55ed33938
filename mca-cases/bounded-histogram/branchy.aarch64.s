	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	histogram
	.type	histogram, %function
histogram:
	cbz	x1, .L1
	mov	x3, 0
	.p2align 3,,7
.L4:
	ldr	w4, [x0, x3, lsl 2]
	cmp	w4, 63
	bhi	.L3
	uxtw	x4, w4
	ldr	w5, [x2, x4, lsl 2]
	add	w5, w5, 1
	str	w5, [x2, x4, lsl 2]
.L3:
	add	x3, x3, 1
	cmp	x1, x3
	bne	.L4
.L1:
	ret
	.size	histogram, .-histogram
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
