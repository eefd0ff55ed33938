#include "../kernel.h"

size_t partition(int32_t *values, size_t n, int32_t pivot)
{
	size_t below = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t value = values[i];
		if (value < pivot) {
			ARM();
			values[i] = values[below];
			values[below++] = value;
		}
	}
	return below;
}
