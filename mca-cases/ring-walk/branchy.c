#include "../kernel.h"

uint64_t walk(const uint32_t *ring, size_t size, const uint16_t *steps, size_t n)
{
	uint64_t sum = 0;
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		at += steps[i];
		if (at >= size) {
			ARM();
			at -= size;
		}
		sum += ring[at];
	}
	return sum;
}
