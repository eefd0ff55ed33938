#include "../driver.h"

SIDES(void, shrink, (const float *in, size_t n, float t, float *out));

static float in[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each value is above 1 with the probability p, and of the others below -1.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		float far = (1 + random_below(random, 1000)) / 1024.0f;
		in[i] = random_chance(random, p) ? 1 + far : random_chance(random, p) ? -1 - far : far;
	}
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = -1;
}

uint64_t run(enum side side)
{
	CALL(side, shrink, in, count, 1.0f, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, (int64_t)(out[i] * 1024));
	return sum;
}
