#include "../driver.h"

SIDES(double, spread, (const double *values, size_t n));

static double values[MAX_UNITS];
static size_t count;

// Each value is below all before with the probability p, and of the others above all.
void prepare(struct random *random, double p, size_t units)
{
	double least = 0, greatest = 0;
	for (size_t i = 0; i < units; i++) {
		double part = random_below(random, 1000) * 0x1p-10;
		if (random_chance(random, p))
			values[i] = least -= 1 + part;
		else if (random_chance(random, p))
			values[i] = greatest += 1 + part;
		else
			values[i] = least + (greatest - least) * part;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, spread, values, count) * 1024;
}

uint64_t check(uint64_t result)
{
	return result;
}
