	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	filter_rows
	.type	filter_rows, %function
filter_rows:
	cbz	x1, .L6
	lsl	x12, x3, 2
	mov	x10, x0
	mov	x11, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	mov	x6, 0
	mov	w7, 0
	cbz	x3, .L5
	.p2align 3,,7
.L4:
	ldr	w5, [x10, x6, lsl 2]
	ldr	w9, [x2, x6, lsl 2]
	add	x6, x6, 1
	cmp	w5, w4
	csetm	w8, gt
	mul	w5, w5, w9
	and	w5, w5, w8
	add	w7, w7, w5
	cmp	x3, x6
	bne	.L4
	asr	w7, w7, 4
	add	x0, x0, w7, sxtw
.L5:
	add	x11, x11, 1
	add	x10, x10, x12
	cmp	x1, x11
	bne	.L3
	ret
.L6:
	mov	x0, 0
	ret
	.size	filter_rows, .-filter_rows
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
