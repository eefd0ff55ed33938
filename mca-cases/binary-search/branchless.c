#include "../kernel.h"

static uint32_t lower_bound(const uint32_t *sorted, uint32_t n, uint32_t key)
{
	const uint32_t *base = sorted;
	while (n > 1) {
		uint32_t half = n / 2;
		base += -(size_t)(base[half - 1] < key) & half;
		n -= half;
	}
	return base - sorted + (*base < key);
}

uint64_t search_all(const uint32_t *sorted, uint32_t n, const uint32_t *keys, size_t searches)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < searches; i++)
		sum += lower_bound(sorted, n, keys[i]);
	return sum;
}
