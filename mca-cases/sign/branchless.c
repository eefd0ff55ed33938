#include "../kernel.h"

int64_t sum_signs(const int32_t *values, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (values[i] > 0) - (values[i] < 0);
	return sum;
}
