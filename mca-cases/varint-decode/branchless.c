#include "../kernel.h"

// It reads up to three bytes behind the last number.
uint64_t sum_varints(const uint8_t *bytes, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t word;
		__builtin_memcpy(&word, bytes, sizeof word); // little-endian
		uint32_t ends = ~word & 0x80808080;
		uint32_t number = word & (ends ^ (ends - 1));
		sum += (number & 0x7f) | (number >> 1 & 0x3f80) | (number >> 2 & 0x1fc000) | (number >> 3 & 0xfe00000);
		bytes += 1 + !(ends & 0x80) + !(ends & 0x8080) + !(ends & 0x808080);
	}
	return sum;
}
