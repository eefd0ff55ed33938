	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	insert_all
	.type	insert_all, %function
insert_all:
	mov	x7, x0
	mov	x0, 0
	cbz	x2, .L1
	add	x8, x1, x2, lsl 2
	mov	x9, 1
	.p2align 3,,7
.L3:
	ldr	w3, [x1], 4
	and	w5, w3, 63
	lsr	w3, w3, 6
	lsl	x4, x9, x5
	ldr	x6, [x7, x3, lsl 3]
	mvn	x2, x6
	orr	x4, x4, x6
	str	x4, [x7, x3, lsl 3]
	lsr	x2, x2, x5
	and	x2, x2, 1
	add	x0, x0, x2
	cmp	x8, x1
	bne	.L3
.L1:
	ret
	.size	insert_all, .-insert_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
