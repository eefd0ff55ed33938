#include "../kernel.h"

uint64_t sum_varints(const uint8_t *bytes, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t number = 0;
		int shift = 0;
		do {
			ARM();
			number |= (*bytes & 0x7f) << shift;
			shift += 7;
		} while (*bytes++ & 0x80);
		sum += number;
	}
	return sum;
}
