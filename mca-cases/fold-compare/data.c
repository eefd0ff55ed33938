#include "../driver.h"

SIDES(size_t, differences, (const uint8_t *a, const uint8_t *b, size_t n, const uint8_t *fold));

static uint8_t a[MAX_UNITS], b[MAX_UNITS], fold[256];
static size_t count;

// Two bytes differ with the probability p, half of them in their case only.
void prepare(struct random *random, double p, size_t units)
{
	for (int c = 0; c < 256; c++)
		fold[c] = c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
	for (size_t i = 0; i < units; i++) {
		b[i] = a[i] = 'a' + random_below(random, 25);
		if (random_chance(random, p))
			b[i] = random_below(random, 2) ? a[i] - 'a' + 'A' : a[i] + 1;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, differences, a, b, count, fold);
}

uint64_t check(uint64_t result)
{
	return result;
}
