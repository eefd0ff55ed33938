// By zlib.
#include "inflate.h"

static size_t inflated(void)
{
	z_stream z = {.next_in = packed, .avail_in = packed_length, .next_out = text, .avail_out = text_length};
	if (inflateInit2(&z, -15) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	inflateEnd(&z);
	return z.total_out;
}
