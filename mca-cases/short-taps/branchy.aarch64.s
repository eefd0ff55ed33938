	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	filter_rows
	.type	filter_rows, %function
filter_rows:
	cbz	x1, .L7
	lsl	x11, x3, 2
	mov	x8, x0
	mov	x10, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	mov	x5, 0
	mov	w7, 0
	cbz	x3, .L6
	.p2align 3,,7
.L5:
	ldr	w6, [x8, x5, lsl 2]
	cmp	w6, w4
	ble	.L4
	ldr	w9, [x2, x5, lsl 2]
	madd	w7, w6, w9, w7
.L4:
	add	x5, x5, 1
	cmp	x3, x5
	bne	.L5
	asr	w7, w7, 4
	add	x0, x0, w7, sxtw
.L6:
	add	x10, x10, 1
	add	x8, x8, x11
	cmp	x1, x10
	bne	.L3
	ret
.L7:
	mov	x0, 0
	ret
	.size	filter_rows, .-filter_rows
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
