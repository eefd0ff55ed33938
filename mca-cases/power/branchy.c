#include "../kernel.h"

static uint64_t power(uint64_t base, uint32_t exponent)
{
	uint64_t result = 1;
	for (int bit = 0; bit < 16; bit++) {
		result *= result;
		if (exponent & 0x8000) {
			ARM();
			result *= base;
		}
		exponent <<= 1;
	}
	return result;
}

uint64_t sum_powers(const uint64_t *bases, const uint16_t *exponents, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += power(bases[i], exponents[i]);
	return sum;
}
