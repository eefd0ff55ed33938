#include "../driver.h"

SIDES(size_t, argmax, (const int32_t *values, size_t n));

static int32_t values[MAX_UNITS];
static size_t count;

// Each value is above all before it with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	int32_t greatest = 0;
	for (size_t i = 0; i < units; i++) {
		int32_t distance = 1 + random_below(random, 1000);
		if (i == 0 || random_chance(random, p))
			values[i] = greatest += distance;
		else
			values[i] = greatest - distance;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, argmax, values, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
