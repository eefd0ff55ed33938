#include "../kernel.h"

uint64_t mix_all(const uint8_t *bytes, size_t n)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] & 0x80) {
			ARM();
			hash ^= hash >> 29;
		}
		hash = (hash + bytes[i]) * 0x9e3779b97f4a7c15;
	}
	return hash;
}
