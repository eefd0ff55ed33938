#include "../kernel.h"

size_t argmax(const int32_t *values, size_t n)
{
	int32_t greatest = INT32_MIN;
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t value = values[i];
		at = value > greatest ? i : at;
		greatest = value > greatest ? value : greatest;
	}
	return at;
}
