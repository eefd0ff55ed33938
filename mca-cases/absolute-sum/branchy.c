#include "../kernel.h"

int64_t sum_absolute(const int32_t *values, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (values[i] < 0) {
			ARM();
			sum -= values[i];
		} else {
			ARM();
			sum += values[i];
		}
	}
	return sum;
}
