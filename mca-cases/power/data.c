#include "../driver.h"

SIDES(uint64_t, sum_powers, (const uint64_t *bases, const uint16_t *exponents, size_t n));

static uint64_t bases[MAX_UNITS];
static uint16_t exponents[MAX_UNITS];
static size_t count;

// Each bit of an exponent is set with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		bases[i] = random_next(random) | 1;
		exponents[i] = 0;
		for (int bit = 0; bit < 16; bit++)
			exponents[i] |= random_chance(random, p) << bit;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_powers, bases, exponents, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
