	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	search_all
	.type	search_all, %function
search_all:
	mov	x7, x0
	cbz	x3, .L8
	mov	x8, 0
	mov	x0, 0
	.p2align 3,,7
.L7:
	ldr	w6, [x2, x8, lsl 2]
	mov	x4, 1
	cbnz	x1, .L6
	b	.L3
	.p2align 2,,3
.L13:
	add	x4, x4, 1
	cmp	x1, x4
	bcc	.L3
.L6:
	ldr	w5, [x7, x4, lsl 2]
	lsl	x4, x4, 1
	cmp	w6, w5
	bhi	.L13
	cmp	x1, x4
	bcs	.L6
.L3:
	add	x8, x8, 1
	add	x0, x0, x4
	cmp	x3, x8
	bne	.L7
	ret
.L8:
	mov	x0, 0
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
