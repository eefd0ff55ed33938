#include "../driver.h"

SIDES(int64_t, sums, (const int32_t *values, size_t n));

static int32_t values[MAX_UNITS];
static size_t count;

// Each value is negative with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		int32_t value = 1 + random_below(random, 1000000);
		values[i] = random_chance(random, p) ? -value : value;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sums, values, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
