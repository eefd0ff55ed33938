	.text
	.file	"branchless.c"
	.globl	add_modulo
	.p2align	6
	.type	add_modulo,@function
add_modulo:
	cbz	x2, .LBB0_2
.LBB0_1:
	ldr	w8, [x0], #4
	ldr	w9, [x1], #4
	add	w8, w9, w8
	cmp	w8, w3
	csel	w9, wzr, w3, lo
	subs	x2, x2, #1
	sub	w8, w8, w9
	str	w8, [x4], #4
	b.ne	.LBB0_1
.LBB0_2:
	ret
.Lfunc_end0:
	.size	add_modulo, .Lfunc_end0-add_modulo
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
