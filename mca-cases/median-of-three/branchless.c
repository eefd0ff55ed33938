#include "../kernel.h"

void medians(const int32_t *values, size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int32_t a = values[3 * i], b = values[3 * i + 1], c = values[3 * i + 2];
		int32_t low = a < b ? a : b, high = a < b ? b : a;
		int32_t below = high < c ? high : c;
		out[i] = low > below ? low : below;
	}
}
