#include "../kernel.h"

void blit(const uint16_t *source, size_t n, uint16_t key, uint16_t *target)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t pixel = source[i], below = target[i];
		target[i] = pixel == key ? below : pixel;
	}
}
