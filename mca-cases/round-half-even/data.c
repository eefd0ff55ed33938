#include "../driver.h"

SIDES(void, round_all, (const int32_t *in, size_t n, int16_t *out));

static int32_t in[MAX_UNITS];
static int16_t out[MAX_UNITS];
static size_t count;

// The places are above the half with the probability p, of the others the half; the whole
// number is odd with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		int32_t whole = 2 * (int32_t)random_below(random, 10000) - 10000 + random_chance(random, p);
		int32_t places = random_below(random, 0x7f);
		in[i] = whole * 256 + (random_chance(random, p) ? 0x81 + places : random_chance(random, p) ? 0x80 : places);
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
	CALL(side, round_all, in, count, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
