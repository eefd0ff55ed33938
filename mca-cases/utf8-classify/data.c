#include "../driver.h"

SIDES(size_t, sum_lengths, (const uint8_t *leads, size_t n));

static uint8_t leads[MAX_UNITS];
static size_t count;

// Each character is not ASCII with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		leads[i] = ' ' + random_below(random, 95);
		if (random_chance(random, p)) {
			static const uint8_t first[] = {0xc2, 0xe0, 0xf0};
			leads[i] = first[random_below(random, 3)] + random_below(random, 4);
		}
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_lengths, leads, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
