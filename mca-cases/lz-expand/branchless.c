#include "../kernel.h"

enum { LENGTH = 4, NEAREST = 256 };

// expand returns the end of the output.
uint8_t *expand(const uint8_t *in, size_t groups, uint8_t *out)
{
	for (size_t i = 0; i < groups; i++) {
		uint32_t flags = *in++;
		for (int token = 0; token < 8; token++, flags >>= 1, in++) {
			size_t match = flags & 1;
			OPAQUE(match);
			const uint8_t *far = out - NEAREST - *in;
			__builtin_memcpy(out, in + ((far - in) & -match), LENGTH);
			out += 1 + (LENGTH - 1) * match;
		}
	}
	return out;
}
