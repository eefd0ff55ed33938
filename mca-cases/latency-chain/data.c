#include "../driver.h"

SIDES(uint64_t, mix_all, (const uint8_t *bytes, size_t n));

static uint8_t bytes[MAX_UNITS];
static size_t count;

// Each byte has its high bit set with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		bytes[i] = random_below(random, 0x80) | (random_chance(random, p) ? 0x80 : 0);
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, mix_all, bytes, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
