#include "../driver.h"

SIDES(void, histogram, (const uint32_t *values, size_t n, uint32_t *bins));

enum { BINS = 64 };

static uint32_t values[MAX_UNITS], bins[BINS + 1];
static size_t count;

// Each value is out of bounds with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		values[i] = random_below(random, BINS) + (random_chance(random, p) ? BINS : 0);
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i <= BINS; i++)
		bins[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, histogram, values, count, bins);
	return 0;
}

// The branchless side counts what is out of bounds too.
uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < BINS; i++)
		sum = checksum_add(sum, bins[i]);
	return sum;
}
