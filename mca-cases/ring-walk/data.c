#include "../driver.h"

SIDES(uint64_t, walk, (const uint32_t *ring, size_t size, const uint16_t *steps, size_t n));

enum { SIZE = 3000 };

static uint32_t ring[SIZE];
static uint16_t steps[MAX_UNITS];
static size_t count;

// Each step wraps around with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < SIZE; i++)
		ring[i] = random_next(random);
	uint32_t at = 0;
	for (size_t i = 0; i < units; i++) {
		if (random_chance(random, p))
			steps[i] = SIZE - at + random_below(random, at);
		else
			steps[i] = random_below(random, SIZE - at);
		at = (at + steps[i]) % SIZE;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, walk, ring, SIZE, steps, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
