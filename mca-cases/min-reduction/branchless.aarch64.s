	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	min_reduce
	.type	min_reduce, %function
min_reduce:
	cbz	x1, .L4
	mov	x2, x0
	mov	w0, 2147483647
	add	x3, x2, x1, lsl 2
	.p2align 3,,7
.L3:
	ldr	w1, [x2], 4
	cmp	w0, w1
	csel	w0, w0, w1, le
	cmp	x2, x3
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	w0, 2147483647
	ret
	.size	min_reduce, .-min_reduce
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
