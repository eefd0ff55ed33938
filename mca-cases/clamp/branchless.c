#include "../kernel.h"

void clamp_all(const int32_t *values, size_t n, int32_t least, int32_t most, int32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int32_t value = values[i];
		value = value < least ? least : value;
		value = value > most ? most : value;
		out[i] = value;
	}
}
