#include "../driver.h"

SIDES(uint64_t, sum_varints, (const uint8_t *bytes, size_t n));

enum { MOST_BYTES = 4 };

static uint8_t bytes[MOST_BYTES * MAX_UNITS + MOST_BYTES];
static size_t count;

// Each byte of a number is followed by another with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	uint8_t *next = bytes;
	for (size_t i = 0; i < units; i++) {
		for (int k = 1; k < MOST_BYTES && random_chance(random, p); k++)
			*next++ = 0x80 | random_below(random, 0x80);
		*next++ = random_below(random, 0x80);
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_varints, bytes, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
