#include "../kernel.h"

int64_t sums(const int32_t *values, size_t n)
{
	int64_t negative = 0, positive = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t value = values[i], mask = value >> 31;
		negative += value & mask;
		positive += value & ~mask;
	}
	return negative * 3 + positive;
}
