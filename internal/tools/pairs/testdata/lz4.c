/* Compresses a file fast and well, and decompresses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lz4.h"
#include "lz4hc.h"
int main(int argc, char **argv) {
	if (argc != 2) return 2;
	FILE *f = fopen(argv[1], "rb");
	if (!f) { perror(argv[1]); return 1; }
	int size = 4 << 20;
	char *in = malloc(size), *back = malloc(size);
	size = (int)fread(in, 1, size, f);
	int bound = LZ4_compressBound(size), total = 0;
	char *out = malloc(bound);
	for (int i = 0; i < 12; i++) {
		int n = LZ4_compress_default(in, out, size, bound);
		if (n <= 0 || LZ4_decompress_safe(out, back, n, size) != size || memcmp(in, back, size)) return 1;
		total += n;
	}
	int n = LZ4_compress_HC(in, out, size, bound, 9);
	for (int k = 0; k < 16; k++)
		if (n <= 0 || LZ4_decompress_safe(out, back, n, size) != size || memcmp(in, back, size)) return 1;
	printf("%d\n", total + n);
	return 0;
}
