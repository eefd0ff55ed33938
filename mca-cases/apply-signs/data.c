#include "../driver.h"

SIDES(void, apply_signs, (const int16_t *magnitudes, const uint16_t *signs, size_t blocks, int16_t *out));

enum { BLOCK = 16 };

static int16_t magnitudes[BLOCK * MAX_UNITS], out[BLOCK * MAX_UNITS];
static uint16_t signs[MAX_UNITS];
static size_t count;

// Each value is negative with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		signs[i] = 0;
		for (size_t k = 0; k < BLOCK; k++) {
			signs[i] |= random_chance(random, p) << k;
			magnitudes[i * BLOCK + k] = random_below(random, 1000);
		}
	}
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < BLOCK * count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, apply_signs, magnitudes, signs, count, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < BLOCK * count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
