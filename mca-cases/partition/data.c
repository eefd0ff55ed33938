#include "../driver.h"

SIDES(size_t, partition, (int32_t *values, size_t n, int32_t pivot));

enum { PIVOT = 1000000 };

static int32_t input[MAX_UNITS], values[MAX_UNITS];
static size_t count;

// Each value is below the pivot with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		input[i] = random_below(random, PIVOT) + (random_chance(random, p) ? 0 : PIVOT);
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		values[i] = input[i];
}

uint64_t run(enum side side)
{
	return CALL(side, partition, values, count, PIVOT);
}

// The sides leave the upper values in different orders.
uint64_t check(uint64_t below)
{
	uint64_t sum = below, upper = 0;
	for (size_t i = 0; i < count; i++) {
		if (i < below)
			sum = checksum_add(sum, values[i]);
		else
			upper += values[i];
		if ((i < below) != (values[i] < PIVOT))
			return 0;
	}
	return checksum_add(sum, upper);
}
