#include "../driver.h"

SIDES(int64_t, filter_rows, (const int32_t *samples, size_t rows, const int32_t *weights, size_t taps, int32_t limit));

enum { TAPS = 5, LIMIT = 1000 };

static const int32_t weights[TAPS] = {1, 4, 6, 4, 1};
static int32_t samples[TAPS * MAX_UNITS];
static size_t count;

// Each sample is above the limit with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < TAPS * units; i++)
		samples[i] = random_below(random, LIMIT) + (random_chance(random, p) ? LIMIT + 1 : 0);
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, filter_rows, samples, count, weights, TAPS, LIMIT);
}

uint64_t check(uint64_t result)
{
	return result;
}
