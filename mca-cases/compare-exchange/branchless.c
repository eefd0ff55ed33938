#include "../kernel.h"

void order_pairs(int32_t *values, size_t n)
{
	for (size_t i = 0; i + 1 < n; i += 2) {
		int32_t a = values[i], b = values[i + 1];
		values[i] = b < a ? b : a;
		values[i + 1] = b < a ? a : b;
	}
}
