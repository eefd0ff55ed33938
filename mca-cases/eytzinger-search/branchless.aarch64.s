	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	search_all
	.type	search_all, %function
search_all:
	mov	x5, x0
	cbz	x3, .L6
	mov	x6, x2
	add	x7, x2, x3, lsl 2
	mov	x0, 0
	.p2align 3,,7
.L5:
	ldr	w4, [x6]
	mov	x2, 1
	cbz	x1, .L3
	.p2align 3,,7
.L4:
	ldr	w3, [x5, x2, lsl 2]
	cmp	w4, w3
	cset	x3, hi
	add	x2, x3, x2, lsl 1
	cmp	x1, x2
	bcs	.L4
.L3:
	add	x6, x6, 4
	add	x0, x0, x2
	cmp	x7, x6
	bne	.L5
	ret
.L6:
	mov	x0, 0
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
