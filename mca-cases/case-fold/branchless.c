#include "../kernel.h"

void lower_case(const uint8_t *in, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t c = in[i];
		out[i] = c + ((uint8_t)(c - 'A') < 26) * ('a' - 'A');
	}
}
