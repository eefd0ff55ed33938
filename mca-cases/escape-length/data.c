#include "../driver.h"

SIDES(size_t, escaped_length, (const uint8_t *bytes, size_t n, const uint8_t *table));

static uint8_t bytes[MAX_UNITS], table[256];
static size_t count;

// Each byte is a control character with the probability p, and of the others a quote.
void prepare(struct random *random, double p, size_t units)
{
	for (int c = 0; c < 256; c++)
		table[c] = c < ' ' ? 6 : c == '"' ? 2 : 1;
	for (size_t i = 0; i < units; i++)
		bytes[i] = random_chance(random, p) ? random_below(random, 32) : random_chance(random, p) ? '"' : 'a' + random_below(random, 26);
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, escaped_length, bytes, count, table);
}

uint64_t check(uint64_t result)
{
	return result;
}
