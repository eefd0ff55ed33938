// A program with recursion, indirect calls, code inlined from another file, loops and
// branches that a predictor misses, for recordings that tests make.

#include <stdio.h>
#include <stdlib.h>

#include "program.h"

static unsigned fibonacci(unsigned n) {
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int compare(const void *a, const void *b) {
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static unsigned walk(const unsigned *values, int n) {
	unsigned sum = 0;
	for (int i = 0; i < n; i++) {
		if (values[i] & 1)
			sum += scramble(values[i]);
		else
			sum ^= values[i];
	}
	return sum;
}

int main(void) {
	static unsigned values[300];
	unsigned x = 1;
	for (int i = 0; i < 300; i++)
		values[i] = x = scramble(x);
	unsigned before = walk(values, 300);
	qsort(values, 300, sizeof *values, compare);
	printf("%u %u %u\n", before, walk(values, 300), fibonacci(10));
	return 0;
}
