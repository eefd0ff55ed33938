#include "../kernel.h"

void medians(const int32_t *values, size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int32_t a = values[3 * i], b = values[3 * i + 1], c = values[3 * i + 2], m;
		if (a > b) {
			ARM();
			if (a > c) {
				ARM();
				m = b > c ? b : c;
			} else {
				ARM();
				m = a;
			}
		} else if (b > c) {
			ARM();
			m = a > c ? a : c;
		} else {
			ARM();
			m = b;
		}
		out[i] = m;
	}
}
