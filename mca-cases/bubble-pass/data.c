#include "../driver.h"

SIDES(void, bubble, (int32_t *values, size_t n));

static int32_t input[MAX_UNITS + 1], values[MAX_UNITS + 1];
static size_t count;

// Each value is below the greatest before it with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	int32_t greatest = input[0] = 0;
	for (size_t i = 1; i <= units; i++) {
		int32_t distance = 1 + random_below(random, 1000);
		input[i] = random_chance(random, p) ? greatest - distance : (greatest += distance);
	}
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i <= count; i++)
		values[i] = input[i];
}

uint64_t run(enum side side)
{
	CALL(side, bubble, values, count);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i <= count; i++)
		sum = checksum_add(sum, values[i]);
	return sum;
}
