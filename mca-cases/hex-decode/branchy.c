#include "../kernel.h"

static inline uint32_t digit(uint8_t c)
{
	if (c > '9') {
		ARM();
		return (c | 0x20) - 'a' + 10;
	}
	return c - '0';
}

void decode(const uint8_t *digits, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]);
}
