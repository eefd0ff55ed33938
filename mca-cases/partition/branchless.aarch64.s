	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	partition
	.type	partition, %function
partition:
	mov	x4, x0
	cbz	x1, .L4
	mov	x3, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldr	w5, [x4, x3, lsl 2]
	ldr	w6, [x4, x0, lsl 2]
	str	w6, [x4, x3, lsl 2]
	cmp	w5, w2
	add	x3, x3, 1
	str	w5, [x4, x0, lsl 2]
	cinc	x0, x0, lt
	cmp	x1, x3
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	partition, .-partition
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
