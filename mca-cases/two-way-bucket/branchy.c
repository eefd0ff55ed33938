#include "../kernel.h"

struct bucket {
	uint32_t keys[2], values[2];
};

// sum_values looks up keys that the table has. A table has a power of two of buckets.
uint64_t sum_values(const struct bucket *table, uint32_t mask, const uint32_t *keys, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		const struct bucket *bucket = &table[keys[i] & mask];
		if (bucket->keys[0] == keys[i]) {
			ARM();
			sum += bucket->values[0];
		} else {
			ARM();
			sum += bucket->values[1];
		}
	}
	return sum;
}
