#include "../driver.h"

SIDES(void, clamp_all, (const int32_t *values, size_t n, int32_t least, int32_t most, int32_t *out));

enum { LEAST = 1000000, MOST = 2000000 };

static int32_t values[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each value is outside of the limits with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		values[i] = LEAST + random_below(random, MOST - LEAST);
		if (random_chance(random, p))
			values[i] += random_chance(random, 0.5) ? MOST - LEAST + 1 : LEAST - MOST;
	}
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, clamp_all, values, count, LEAST, MOST, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
