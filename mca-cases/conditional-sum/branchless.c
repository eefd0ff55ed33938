#include "../kernel.h"

int64_t sum_below(const int32_t *values, size_t n, int32_t limit)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i] < limit ? values[i] : 0;
	return sum;
}
