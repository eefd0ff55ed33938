#include "../kernel.h"

void histogram(const uint32_t *values, size_t n, uint32_t *bins)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = values[i];
		bins[value < 64 ? value : 64]++;
	}
}
