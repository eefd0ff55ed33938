// A pair that is none of the twelve, to try the recipe with: bytes above a limit. The unit is a byte.
#include "../program.h"

#include <stdlib.h>

static unsigned char *bytes;
static size_t length;

size_t prepare(const char *text, size_t text_length)
{
	(void)text;
	(void)text_length;
	length = 1 << 18;
	bytes = malloc(length);
	for (size_t i = 0; i < length; i++)
		bytes[i] = random_next();
	return length;
}

__attribute__((noinline)) static size_t above(const unsigned char *list, size_t n, int limit, unsigned char *out)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
#ifdef AFTER
		out[found] = list[i];
		found += list[i] > limit;
#else
		if (list[i] > limit)
			out[found++] = list[i];
#endif
	}
	return found;
}

uint64_t pass(void)
{
	static unsigned char out[1 << 18];
	return above(bytes, length, 99, out);
}
