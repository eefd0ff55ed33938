#include "../kernel.h"

void bubble(int32_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int32_t a = values[i], b = values[i + 1];
		if (a > b) {
			ARM();
			values[i] = b;
			values[i + 1] = a;
		}
	}
}
