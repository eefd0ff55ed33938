	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	fill_bucket
	.type	fill_bucket, %function
fill_bucket:
	mov	x6, x0
	cbz	x1, .L5
	mov	x4, 0
	mov	w3, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	ldr	w5, [x6, x4, lsl 2]
	add	w3, w3, w5
	cmp	w3, w2
	ble	.L3
	mov	w3, w2
.L3:
	add	x4, x4, 1
	add	x0, x0, w3, sxtw
	cmp	x1, x4
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	fill_bucket, .-fill_bucket
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
