#include "../kernel.h"

// fill_bucket adds the values to a bucket with a limit and returns the sum of its levels.
int64_t fill_bucket(const int32_t *values, size_t n, int32_t limit)
{
	int64_t sum = 0;
	int32_t level = 0;
	for (size_t i = 0; i < n; i++) {
		level += values[i];
		level = level > limit ? limit : level;
		sum += level;
	}
	return sum;
}
