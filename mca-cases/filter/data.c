#include "../driver.h"

SIDES(size_t, keep_below, (const int32_t *values, size_t n, int32_t limit, int32_t *out));

enum { LIMIT = 1000000 };

static int32_t values[MAX_UNITS], out[MAX_UNITS];
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
	for (size_t i = 0; i < count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	return CALL(side, keep_below, values, count, LIMIT, out);
}

uint64_t check(uint64_t kept)
{
	uint64_t sum = kept;
	for (size_t i = 0; i < kept; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
