#include "../kernel.h"

size_t keep_below(const int32_t *values, size_t n, int32_t limit, int32_t *out)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		out[kept] = values[i];
		kept += values[i] < limit;
	}
	return kept;
}
