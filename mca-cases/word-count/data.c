#include "../driver.h"

SIDES(size_t, count_words, (const uint8_t *bytes, size_t n));

static uint8_t bytes[MAX_UNITS];
static size_t count;

// Each byte is a blank with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		bytes[i] = random_chance(random, p) ? ' ' : 'a' + random_below(random, 26);
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, count_words, bytes, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
