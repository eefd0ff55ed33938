#include "../driver.h"

SIDES(void, follow, (const float *samples, size_t n, float decay, float *out));

static const float decay = 1 - 0x1p-12f;

static float samples[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each sample is above the level with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	float level = 1;
	for (size_t i = 0; i < units; i++) {
		level *= decay;
		float part = random_below(random, 1000) * 0x1p-10f;
		if (random_chance(random, p))
			level = samples[i] = level * (1 + 0x1p-20f + part * 0x1p-10f);
		else
			samples[i] = level * part;
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
	CALL(side, follow, samples, count, decay, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, (int64_t)(out[i] * 0x1p30f));
	return sum;
}
