#include "../driver.h"

SIDES(void, decode, (const uint8_t *digits, size_t n, uint8_t *out));

static uint8_t digits[2 * MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each digit is a letter, upper or lower case, with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < 2 * units; i++)
		digits[i] = random_chance(random, p) ? "aA"[random_below(random, 2)] + random_below(random, 6) : '0' + random_below(random, 10);
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, decode, digits, count, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
