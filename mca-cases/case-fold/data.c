#include "../driver.h"

SIDES(void, lower_case, (const uint8_t *in, size_t n, uint8_t *out));

static uint8_t in[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each letter is upper-case with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++)
		in[i] = random_below(random, 26) + (random_chance(random, p) ? 'A' : 'a');
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, lower_case, in, count, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
