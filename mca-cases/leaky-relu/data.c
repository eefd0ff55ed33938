#include "../driver.h"

SIDES(void, leaky_relu, (const float *in, size_t n, float slope, float *out));

static float in[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each element is negative with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		float size = 1 + random_below(random, 1000);
		in[i] = random_chance(random, p) ? -size : size;
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
	CALL(side, leaky_relu, in, count, 0.125f, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, (int64_t)(out[i] * 8));
	return sum;
}
