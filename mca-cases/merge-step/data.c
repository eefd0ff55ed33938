#include "../driver.h"

SIDES(void, merge, (const int32_t *first, const int32_t *second, size_t n, int32_t *out));

// The last of each input is above all others.
static int32_t inputs[2][MAX_UNITS + 1], out[MAX_UNITS];
static size_t count;

// Each output is from the second input with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	size_t sizes[2] = {0, 0};
	int32_t value = 0;
	for (size_t i = 0; i < units; i++) {
		int input = random_chance(random, p);
		value += 1 + random_below(random, 1000);
		inputs[input][sizes[input]++] = value;
	}
	inputs[0][sizes[0]] = inputs[1][sizes[1]] = INT32_MAX;
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, merge, inputs[0], inputs[1], count, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
