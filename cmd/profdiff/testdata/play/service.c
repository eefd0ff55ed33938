/* A program with two hot functions, for .ci/play. The change makes one of them do more
   (DIGEST_ROUNDS), and no other. */
#include <stdint.h>
#include <stdio.h>

#ifndef DIGEST_ROUNDS
#define DIGEST_ROUNDS 400
#endif
#define REQUESTS 250000
#define noinline __attribute__((noinline))

static noinline uint64_t digest(uint64_t x)
{
	for (int i = 0; i < DIGEST_ROUNDS; i++)
		x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u + 1;
	return x;
}

static noinline uint64_t parse(uint64_t x)
{
	for (int i = 0; i < 800; i++)
		x = (x << 7 | x >> 57) + 0x9e3779b97f4a7c15u * (x & 0xff);
	return x;
}

int main(void)
{
	uint64_t sum = 1;
	for (int i = 0; i < REQUESTS; i++)
		sum = digest(parse(sum + i));
	printf("checksum %llu\nrequests %d\n", (unsigned long long)sum, REQUESTS);
	return 0;
}
