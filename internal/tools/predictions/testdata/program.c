#define _GNU_SOURCE
#include "program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 1;

// Sebastiano Vigna's SplitMix64.
uint64_t random_next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint32_t random_below(uint32_t limit)
{
	return (random_next() >> 32) * limit >> 32;
}

static uint64_t nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

static char *read_file(const char *name, size_t *length)
{
	FILE *f = fopen(name, "rb");
	if (!f || fseek(f, 0, SEEK_END)) {
		perror(name);
		exit(1);
	}
	*length = ftell(f);
	rewind(f);
	char *text = malloc(*length + 1);
	if (!text || fread(text, 1, *length, f) != *length) {
		perror(name);
		exit(1);
	}
	text[*length] = 0;
	fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int number = !strcmp(mode, "seconds") || !strcmp(mode, "passes");
	if (argc < 2 + number) {
		fprintf(stderr, "usage: seconds S|passes N|steps|units [FILE]\n");
		return 2;
	}
	size_t length = 0;
	char *text = argc > 2 + number ? read_file(argv[2 + number], &length) : NULL;
	size_t units = prepare(text, length);
	uint64_t sum = 0;
	if (!strcmp(mode, "units")) {
		printf("%zu\n", units);
	} else if (!strcmp(mode, "steps")) {
		char turn;
		while (read(0, &turn, 1) == 1) {
			pass(); // what the other program had in the caches comes back
			uint64_t start = nanoseconds();
			sum = pass();
			uint64_t end = nanoseconds();
			dprintf(1, "%" PRIu64 " %016" PRIx64 "\n", end - start, sum);
		}
	} else if (!strcmp(mode, "passes")) {
		for (long n = atol(argv[2]); n > 0; n--)
			sum = pass();
		printf("%016" PRIx64 "\n", sum);
	} else {
		uint64_t end = nanoseconds() + (uint64_t)(atof(argv[2]) * 1e9);
		long n = 0;
		for (; nanoseconds() < end; n++)
			pass();
		printf("%ld\n", n);
	}
	return 0;
}
