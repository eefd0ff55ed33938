/* Compresses and decompresses a file at four levels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zstd.h"
int main(int argc, char **argv) {
	if (argc != 2) return 2;
	FILE *f = fopen(argv[1], "rb");
	if (!f) { perror(argv[1]); return 1; }
	size_t size = 4 << 20;
	char *in = malloc(size), *back = malloc(size);
	size = fread(in, 1, size, f);
	size_t bound = ZSTD_compressBound(size), total = 0;
	char *out = malloc(bound);
	static const int levels[] = {1, 3, 6, 9};
	for (int i = 0; i < 4; i++) {
		size_t n = ZSTD_compress(out, bound, in, size, levels[i]);
		if (ZSTD_isError(n)) return 1;
		total += n;
		for (int k = 0; k < 12; k++)
			if (ZSTD_decompress(back, size, out, n) != size || memcmp(in, back, size)) return 1;
	}
	printf("%zu\n", total);
	return 0;
}
