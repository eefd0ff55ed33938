// "Under the hood: Android 17's lock-free MessageQueue", Android Developers Blog, February 2026,
// section "Optimization: branchless programming":
// the comparator with branches, as printed there.
	sub	x0, x2, x3
	cmp	x0, #0
	cset	w0, ne
	cneg	w0, w0, lt
	cmp	w0, #0
	b.le	#12
	mov	w1, #1
	b	#48
	tbz	w0, #31, #12
	mov	w1, #-1
	b	#36
	sub	x0, x4, x5
	cmp	x0, #0
	cset	w0, ne
	cneg	w0, w0, lt
	cmp	w0, #0
	csetm	w1, lt
	cmp	w0, #0
	csinc	w1, w1, wzr, le
	mov	x0, x1
	ret
