#include "../kernel.h"

size_t count_runs(const uint8_t *bytes, size_t n)
{
	size_t runs = 0;
	uint8_t before = 0;
	for (size_t i = 0; i < n; i++) {
		runs += bytes[i] != before;
		before = bytes[i];
	}
	return runs;
}
