#include "../kernel.h"

enum { LENGTH = 4, NEAREST = 256 };

// expand returns the end of the output.
uint8_t *expand(const uint8_t *in, size_t groups, uint8_t *out)
{
	for (size_t i = 0; i < groups; i++) {
		uint32_t flags = *in++;
		for (int token = 0; token < 8; token++, flags >>= 1, in++) {
			if (flags & 1) {
				ARM();
				__builtin_memcpy(out, out - NEAREST - *in, LENGTH);
				out += LENGTH;
			} else {
				ARM();
				*out++ = *in;
			}
		}
	}
	return out;
}
