// "Under the hood: Android 17's lock-free MessageQueue", Android Developers Blog, February 2026,
// section "Optimization: branchless programming":
// the comparator without branches, as printed there.
	sub	x0, x2, x3
	sub	x1, x4, x5
	cmp	x0, #0
	cset	w0, ne
	cneg	w0, w0, lt
	cmp	x1, #0
	cset	w1, ne
	cneg	w1, w1, lt
	add	w0, w1, w0, lsl #1
	ret
