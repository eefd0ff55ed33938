// "Under the hood: Android 17's lock-free MessageQueue", Android Developers Blog, February 2026,
// section "Optimization: branchless programming":
// the instructions that the comparator with branches executes for messages of the same time.
	sub	x0, x2, x3
	cmp	x0, #0
	cset	w0, ne
	cneg	w0, w0, lt
	cmp	w0, #0
	b.le	#12
	tbz	w0, #31, #12
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
