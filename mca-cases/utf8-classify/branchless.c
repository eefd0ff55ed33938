#include "../kernel.h"

size_t sum_lengths(const uint8_t *leads, size_t n)
{
	size_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += 1 + (leads[i] >= 0x80) + (leads[i] >= 0xe0) + (leads[i] >= 0xf0);
	return sum;
}
