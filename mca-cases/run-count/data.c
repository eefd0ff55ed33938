#include "../driver.h"

SIDES(size_t, count_runs, (const uint8_t *bytes, size_t n));

static uint8_t bytes[MAX_UNITS];
static size_t count;

// Each byte differs from the one before with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	uint8_t byte = random_below(random, 256);
	for (size_t i = 0; i < units; i++) {
		if (random_chance(random, p))
			byte += 1 + random_below(random, 255);
		bytes[i] = byte;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, count_runs, bytes, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
