#include "../driver.h"

SIDES(int32_t, min_reduce, (const int32_t *values, size_t n));

static int32_t values[MAX_UNITS];
static size_t count;

// Each value is below all before it with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	int32_t least = INT32_MAX;
	for (size_t i = 0; i < units; i++) {
		int32_t distance = 1 + random_below(random, 1000);
		if (random_chance(random, p))
			values[i] = least -= distance;
		else
			values[i] = least > INT32_MAX - distance ? INT32_MAX : least + distance;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, min_reduce, values, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
