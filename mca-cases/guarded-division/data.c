#include "../driver.h"

SIDES(uint64_t, sum_quotients, (const uint32_t *dividends, const uint32_t *divisors, size_t n));

static uint32_t dividends[MAX_UNITS], divisors[MAX_UNITS];
static size_t count;

// Each divisor is zero with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		dividends[i] = random_next(random);
		divisors[i] = random_chance(random, p) ? 0 : 1 + random_below(random, 1 << 16);
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_quotients, dividends, divisors, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
