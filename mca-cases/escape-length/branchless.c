#include "../kernel.h"

size_t escaped_length(const uint8_t *bytes, size_t n, const uint8_t *table)
{
	size_t length = 0;
	for (size_t i = 0; i < n; i++)
		length += table[bytes[i]];
	return length;
}
