#include "../kernel.h"

void merge(const int32_t *first, const int32_t *second, size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int32_t a = *first, b = *second;
		size_t from_second = b < a;
		OPAQUE(from_second);
		out[i] = b < a ? b : a;
		second += from_second;
		first += 1 - from_second;
	}
}
