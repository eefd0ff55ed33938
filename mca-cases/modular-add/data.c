#include "../driver.h"

SIDES(void, add_modulo, (const uint32_t *a, const uint32_t *b, size_t n, uint32_t modulus, uint32_t *out));

enum { MODULUS = 1000003 };

static uint32_t a[MAX_UNITS], b[MAX_UNITS], out[MAX_UNITS];
static size_t count;

// Each sum is at least the modulus with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		a[i] = 1 + random_below(random, MODULUS - 1);
		uint32_t room = MODULUS - a[i];
		b[i] = random_chance(random, p) ? room + random_below(random, MODULUS - room) : random_below(random, room);
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
	CALL(side, add_modulo, a, b, count, MODULUS, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
