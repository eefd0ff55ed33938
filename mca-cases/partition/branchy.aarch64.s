	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	partition
	.type	partition, %function
partition:
	mov	x4, x0
	cbz	x1, .L5
	mov	x3, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	ldr	w5, [x4, x3, lsl 2]
	cmp	w5, w2
	bge	.L3
	lsl	x6, x0, 2
	ldr	w7, [x4, x0, lsl 2]
	add	x0, x0, 1
	str	w7, [x4, x3, lsl 2]
	str	w5, [x4, x6]
.L3:
	add	x3, x3, 1
	cmp	x1, x3
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	partition, .-partition
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
