#include "../kernel.h"

enum { BLOCK = 16 };

void apply_signs(const int16_t *magnitudes, const uint16_t *signs, size_t blocks, int16_t *out)
{
	for (size_t i = 0; i < blocks; i++) {
		uint32_t mask = signs[i];
		for (int k = 0; k < BLOCK; k++, mask >>= 1) {
			int16_t value = magnitudes[i * BLOCK + k];
			if (mask & 1) {
				ARM();
				value = -value;
			}
			out[i * BLOCK + k] = value;
		}
	}
}
