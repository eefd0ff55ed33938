#include "../driver.h"

SIDES(uint8_t *, expand, (const uint8_t *in, size_t groups, uint8_t *out));

enum { TOKENS = 8, LENGTH = 4, FARTHEST = 256 + 255 };

static uint8_t in[MAX_UNITS * (1 + TOKENS) + LENGTH], out[FARTHEST + MAX_UNITS * TOKENS * LENGTH];
static size_t count, size;

// Each token is a match with the probability p. The output begins with what the first
// matches may reach.
void prepare(struct random *random, double p, size_t units)
{
	uint8_t *token = in;
	size = 0;
	for (size_t i = 0; i < units; i++) {
		uint8_t *flags = token++;
		*flags = 0;
		for (int bit = 0; bit < TOKENS; bit++) {
			bool match = random_chance(random, p);
			*flags |= match << bit;
			size += match ? LENGTH : 1;
			*token++ = random_below(random, 256);
		}
	}
	for (size_t i = 0; i < FARTHEST; i++)
		out[i] = random_below(random, 256);
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < size; i++)
		out[FARTHEST + i] = 0;
}

uint64_t run(enum side side)
{
	return CALL(side, expand, in, count, out + FARTHEST) - out;
}

uint64_t check(uint64_t end)
{
	uint64_t sum = end;
	for (size_t i = FARTHEST; i < end; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
