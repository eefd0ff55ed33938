#include "../kernel.h"

int64_t sum_absolute(const int32_t *values, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t sign = values[i] >> 31;
		sum += (values[i] ^ sign) - sign;
	}
	return sum;
}
