#include "../kernel.h"

size_t split(const int32_t *values, size_t n, int32_t pivot, int32_t *below, int32_t *others)
{
	size_t b = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t value = values[i];
		below[b] = value;
		others[i - b] = value;
		b += value < pivot;
	}
	return b;
}
