#include "../kernel.h"

int32_t min_reduce(const int32_t *values, size_t n)
{
	int32_t least = INT32_MAX;
	for (size_t i = 0; i < n; i++) {
		if (values[i] < least) {
			ARM();
			least = values[i];
		}
	}
	return least;
}
