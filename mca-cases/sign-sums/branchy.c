#include "../kernel.h"

int64_t sums(const int32_t *values, size_t n)
{
	int64_t negative = 0, positive = 0;
	for (size_t i = 0; i < n; i++) {
		if (values[i] < 0) {
			ARM();
			negative += values[i];
		} else {
			ARM();
			positive += values[i];
		}
	}
	return negative * 3 + positive;
}
