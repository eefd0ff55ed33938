#include "../kernel.h"

void merge(const int32_t *first, const int32_t *second, size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		if (*second < *first) {
			ARM();
			out[i] = *second++;
		} else {
			ARM();
			out[i] = *first++;
		}
	}
}
