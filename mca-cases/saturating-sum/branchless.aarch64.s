	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	fill_bucket
	.type	fill_bucket, %function
fill_bucket:
	cbz	x1, .L4
	mov	x4, x0
	add	x5, x0, x1, lsl 2
	mov	w3, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldr	w1, [x4], 4
	add	w3, w3, w1
	cmp	w3, w2
	csel	w3, w3, w2, le
	add	x0, x0, w3, sxtw
	cmp	x5, x4
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	fill_bucket, .-fill_bucket
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
