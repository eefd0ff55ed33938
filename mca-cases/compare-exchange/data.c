#include "../driver.h"

SIDES(void, order_pairs, (int32_t *values, size_t n));

static int32_t input[2 * MAX_UNITS], values[2 * MAX_UNITS];
static size_t count;

// Each pair is out of order with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		int32_t a = random_below(random, 1000000), b = a + 1 + random_below(random, 1000000);
		bool swapped = random_chance(random, p);
		input[2 * i] = swapped ? b : a;
		input[2 * i + 1] = swapped ? a : b;
	}
	count = 2 * units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		values[i] = input[i];
}

uint64_t run(enum side side)
{
	CALL(side, order_pairs, values, count);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, values[i]);
	return sum;
}
