#include "../kernel.h"

size_t count_byte(const uint8_t *bytes, size_t n, uint8_t wanted)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += bytes[i] == wanted;
	return count;
}
