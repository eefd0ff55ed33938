// Three functions of which two are inlined into the third.
volatile int sink;

static inline __attribute__((always_inline)) int leaf_inlined(int x) {
	sink = x;             // line of leaf_inlined
	return x * sink + 7;
}

static inline __attribute__((always_inline)) int mid_inlined(int x) {
	int y = x ^ 0x55;
	return leaf_inlined(y) + 1; // call of leaf_inlined
}

__attribute__((noinline)) int outer(int x) {
	int r = x - 3;
	r += mid_inlined(r); // call of mid_inlined
	return r * 3;
}

int main(int argc, char **argv) {
	(void)argv;
	return outer(argc) == 42;
}
