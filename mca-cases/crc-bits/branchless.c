#include "../kernel.h"

uint32_t crc(const uint8_t *bytes, size_t n, uint32_t polynomial)
{
	uint32_t state = 0xffffffff;
	for (size_t i = 0; i < n; i++) {
		state ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			state = state >> 1 ^ (polynomial & -(state & 1));
	}
	return ~state;
}
