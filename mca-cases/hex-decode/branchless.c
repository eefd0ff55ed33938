#include "../kernel.h"

static inline uint32_t digit(uint8_t c)
{
	return (c & 0xf) + 9 * (c >> 6);
}

void decode(const uint8_t *digits, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]);
}
