#include "../kernel.h"

__attribute__((noinline, noipa)) static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352d;
	x = (x ^ x >> 15) * 0x846ca68b;
	return x ^ x >> 16;
}

uint64_t sum_hashes(const uint32_t *values, size_t n, uint32_t limit)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t hash = mix(values[i]);
		sum += hash & -(uint32_t)(values[i] < limit);
	}
	return sum;
}
