#include "../kernel.h"

// insert_all returns how many keys are new.
size_t insert_all(uint64_t *set, const uint32_t *keys, size_t n)
{
	size_t added = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t *word = &set[keys[i] / 64], bit = (uint64_t)1 << keys[i] % 64;
		if (!(*word & bit)) {
			ARM();
			*word |= bit;
			added++;
		}
	}
	return added;
}
