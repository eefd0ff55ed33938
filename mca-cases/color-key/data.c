#include "../driver.h"

SIDES(void, blit, (const uint16_t *source, size_t n, uint16_t key, uint16_t *target));

enum { KEY = 0xf81f };

static uint16_t source[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each pixel is of the key color with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		source[i] = random_chance(random, p) ? KEY : random_below(random, KEY);
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = i;
}

uint64_t run(enum side side)
{
	CALL(side, blit, source, count, KEY, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
