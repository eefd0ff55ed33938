#include "../driver.h"

SIDES(size_t, split, (const int32_t *values, size_t n, int32_t pivot, int32_t *below, int32_t *others));

enum { PIVOT = 1000000 };

static int32_t values[MAX_UNITS], below[MAX_UNITS + 1], others[MAX_UNITS + 1];
static size_t count;

// Each value is below the pivot with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		values[i] = random_below(random, PIVOT) + (random_chance(random, p) ? 0 : PIVOT);
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		below[i] = others[i] = 0;
}

uint64_t run(enum side side)
{
	return CALL(side, split, values, count, PIVOT, below, others);
}

uint64_t check(uint64_t b)
{
	uint64_t sum = b;
	for (size_t i = 0; i < b; i++)
		sum = checksum_add(sum, below[i]);
	for (size_t i = 0; i < count - b; i++)
		sum = checksum_add(sum, others[i]);
	return sum;
}
