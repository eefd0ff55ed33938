	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	search_all
	.type	search_all, %function
search_all:
	mov	x9, x0
	cbz	x3, .L8
	mov	x10, 0
	mov	x0, 0
	.p2align 3,,7
.L7:
	ldr	w8, [x2, x10, lsl 2]
	cbz	w1, .L3
	mov	w6, w1
	mov	w5, 0
	b	.L6
	.p2align 2,,3
.L16:
	add	w5, w4, 1
	cmp	w5, w6
	bcs	.L15
.L6:
	add	w4, w5, w6
	lsr	w7, w4, 1
	lsr	w4, w4, 1
	ldr	w7, [x9, x7, lsl 2]
	cmp	w8, w7
	bhi	.L16
	mov	w6, w4
	cmp	w5, w6
	bcc	.L6
.L15:
	add	x0, x0, w5, uxtw
.L3:
	add	x10, x10, 1
	cmp	x3, x10
	bne	.L7
	ret
.L8:
	mov	x0, 0
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
