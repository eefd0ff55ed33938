#include "../kernel.h"

static uint32_t lower_bound(const uint32_t *sorted, uint32_t n, uint32_t key)
{
	uint32_t low = 0, high = n;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (sorted[middle] < key) {
			ARM();
			low = middle + 1;
		} else {
			ARM();
			high = middle;
		}
	}
	return low;
}

uint64_t search_all(const uint32_t *sorted, uint32_t n, const uint32_t *keys, size_t searches)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < searches; i++)
		sum += lower_bound(sorted, n, keys[i]);
	return sum;
}
