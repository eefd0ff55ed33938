// By libdeflate.
#include "inflate.h"

#include <libdeflate.h>

static size_t inflated(void)
{
	static struct libdeflate_decompressor *d;
	if (!d)
		d = libdeflate_alloc_decompressor();
	size_t n;
	if (libdeflate_deflate_decompress(d, packed, packed_length, text, text_length, &n))
		abort();
	return n;
}
