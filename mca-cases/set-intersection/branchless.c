#include "../kernel.h"

// intersect takes n steps and returns how many elements it has found.
size_t intersect(const uint32_t *a, const uint32_t *b, size_t n, uint32_t *out)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t x = *a, y = *b;
		out[found] = x;
		found += x == y;
		a += x <= y;
		b += y <= x;
	}
	return found;
}
