	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	insert_all
	.type	insert_all, %function
insert_all:
	mov	x7, x0
	cbz	x2, .L5
	mov	x4, 0
	mov	x0, 0
	mov	x8, 1
	.p2align 3,,7
.L4:
	ldr	w3, [x1, x4, lsl 2]
	lsr	w6, w3, 6
	lsl	x3, x8, x3
	ldr	x5, [x7, x6, lsl 3]
	tst	x5, x3
	bne	.L3
	add	x0, x0, 1
	orr	x5, x5, x3
	str	x5, [x7, x6, lsl 3]
.L3:
	add	x4, x4, 1
	cmp	x2, x4
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	insert_all, .-insert_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
