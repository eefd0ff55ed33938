// Decompresses a raw stream of DEFLATE, which zlib made of text. The unit is a byte of it.
#include "../program.h"

#include <stdlib.h>

#include <zlib.h>

static unsigned char *packed, *text;
static size_t packed_length, text_length;

static size_t inflated(void);

size_t prepare(const char *original, size_t length)
{
	text = malloc(length);
	text_length = length;
	packed = malloc(length + length / 8);
	z_stream z = {.next_in = (unsigned char *)original, .avail_in = length, .next_out = packed, .avail_out = length + length / 8};
	if (deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK || deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	packed_length = z.total_out;
	deflateEnd(&z);
	return length;
}

uint64_t pass(void)
{
	size_t n = inflated();
	uint64_t sum = n;
	for (size_t i = 0; i < n; i += 4096)
		sum = sum * 31 + text[i];
	return sum;
}
