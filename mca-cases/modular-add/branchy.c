#include "../kernel.h"

void add_modulo(const uint32_t *a, const uint32_t *b, size_t n, uint32_t modulus, uint32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t sum = a[i] + b[i];
		if (sum >= modulus) {
			ARM();
			sum -= modulus;
		}
		out[i] = sum;
	}
}
