#include "../driver.h"

SIDES(int64_t, sum_below, (const int32_t *values, size_t n, int32_t limit));

enum { LIMIT = 1000000 };

static int32_t values[MAX_UNITS];
static size_t count;

// Each value is below the limit with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		values[i] = random_below(random, LIMIT) + (random_chance(random, p) ? 0 : LIMIT);
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_below, values, count, LIMIT);
}

uint64_t check(uint64_t result)
{
	return result;
}
