#include "../kernel.h"

size_t argmax(const int32_t *values, size_t n)
{
	int32_t greatest = INT32_MIN;
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		if (values[i] > greatest) {
			ARM();
			greatest = values[i];
			at = i;
		}
	}
	return at;
}
