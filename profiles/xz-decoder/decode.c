// Decompresses a file of xz in memory, so many times.
//
//	usage: decode FILE.xz TIMES
//
// It prints how many bytes it decompressed in all, and their sum. The library is liblzma.
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t packed[1 << 20], unpacked[8 << 20];

// print writes a number and what follows it.
static void print(uint64_t n, char after)
{
	char text[32], *at = text + sizeof text;
	*--at = after;
	do
		*--at = '0' + n % 10;
	while (n /= 10);
	if (write(1, at, text + sizeof text - at) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	int file = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	ssize_t size = read(file, packed, sizeof packed);
	if (file < 0 || size <= 0)
		return 2;
	uint64_t bytes = 0, sum = 0;
	for (int times = atoi(argv[2]); times > 0; times--) {
		lzma_stream stream = LZMA_STREAM_INIT;
		stream.next_in = packed, stream.avail_in = size;
		stream.next_out = unpacked, stream.avail_out = sizeof unpacked;
		if (lzma_stream_decoder(&stream, UINT64_MAX, LZMA_IGNORE_CHECK) != LZMA_OK ||
		    lzma_code(&stream, LZMA_FINISH) != LZMA_STREAM_END)
			return 1;
		bytes += stream.total_out;
		for (size_t i = 0; i < stream.total_out; i += 4096)
			sum = sum * 31 + unpacked[i];
		lzma_end(&stream);
	}
	print(bytes, ' ');
	print(sum, '\n');
}
