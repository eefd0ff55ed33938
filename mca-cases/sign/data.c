#include "../driver.h"

SIDES(int64_t, sum_signs, (const int32_t *values, size_t n));

static int32_t values[MAX_UNITS];
static size_t count;

// Each value is zero or negative with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		values[i] = 1 + random_below(random, 1000000);
		if (random_chance(random, p))
			values[i] *= random_chance(random, 0.5) ? 0 : -1;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_signs, values, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
