#include "../driver.h"

SIDES(void, medians, (const int32_t *values, size_t n, int32_t *out));

static int32_t values[3 * MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each comparison finds the greater one first with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		int32_t *v = &values[3 * i];
		int32_t x = random_below(random, 1000), y = x + 1 + random_below(random, 1000);
		bool first = random_chance(random, p), second = random_chance(random, p);
		v[0] = first ? y : x;
		v[1] = first ? x : y;
		// v[first ? 0 : 1] is the greater one; the third is below it or above.
		v[2] = second ? y - 1 - (int32_t)random_below(random, 1000) : y + (int32_t)random_below(random, 1000);
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
	CALL(side, medians, values, count, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
