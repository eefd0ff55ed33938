#include "../kernel.h"

void bubble(int32_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int32_t a = values[i], b = values[i + 1];
		values[i] = a < b ? a : b;
		values[i + 1] = a < b ? b : a;
	}
}
