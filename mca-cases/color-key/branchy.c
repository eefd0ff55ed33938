#include "../kernel.h"

void blit(const uint16_t *source, size_t n, uint16_t key, uint16_t *target)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t pixel = source[i];
		if (pixel != key) {
			ARM();
			target[i] = pixel;
		}
	}
}
