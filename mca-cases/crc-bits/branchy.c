#include "../kernel.h"

uint32_t crc(const uint8_t *bytes, size_t n, uint32_t polynomial)
{
	uint32_t state = 0xffffffff;
	for (size_t i = 0; i < n; i++) {
		state ^= bytes[i];
		for (int bit = 0; bit < 8; bit++) {
			if (state & 1) {
				ARM();
				state = state >> 1 ^ polynomial;
			} else {
				ARM();
				state >>= 1;
			}
		}
	}
	return ~state;
}
