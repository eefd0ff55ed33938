#include "../driver.h"

SIDES(uint64_t, search_all, (const uint32_t *sorted, uint32_t n, const uint32_t *keys, size_t searches));

// One less than a power of two, so that every search takes the same number of steps.
enum { LEVELS = 10, SIZE = (1 << LEVELS) - 1 };

static uint32_t sorted[SIZE];
static uint32_t keys[MAX_UNITS];
static size_t count;

// Each step of a search goes to the upper half with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (uint32_t i = 0; i < SIZE; i++)
		sorted[i] = 10 * i + random_below(random, 10);
	for (size_t i = 0; i < units; i++) {
		uint32_t low = 0;
		for (uint32_t half = 1 << (LEVELS - 1); half; half /= 2)
			low += random_chance(random, p) ? half : 0;
		keys[i] = low < SIZE ? sorted[low] : sorted[SIZE - 1] + 1;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, search_all, sorted, SIZE, keys, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
