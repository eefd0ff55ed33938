#include "../kernel.h"

void lower_case(const uint8_t *in, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t c = in[i];
		if (c >= 'A' && c <= 'Z') {
			ARM();
			c += 'a' - 'A';
		}
		out[i] = c;
	}
}
