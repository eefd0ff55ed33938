#include "../kernel.h"

uint64_t sum_quotients(const uint32_t *dividends, const uint32_t *divisors, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t zero = divisors[i] == 0;
		OPAQUE(zero);
		sum += dividends[i] / (divisors[i] + zero) & (zero - 1);
	}
	return sum;
}
