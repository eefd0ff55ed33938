#include "../driver.h"

SIDES(size_t, insert_all, (uint64_t *set, const uint32_t *keys, size_t n));

enum { KEYS = 32768, WORDS = KEYS / 64 };

static uint64_t start[WORDS], set[WORDS];
static uint32_t keys[MAX_UNITS];
static size_t count;

static bool has(uint32_t key)
{
	return set[key / 64] >> key % 64 & 1;
}

// The set has a quarter of all keys at the start. Each key is new with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < WORDS; i++)
		start[i] = set[i] = random_next(random) & random_next(random);
	for (size_t i = 0; i < units; i++) {
		bool old = !random_chance(random, p);
		do
			keys[i] = random_below(random, KEYS);
		while (has(keys[i]) != old);
		set[keys[i] / 64] |= (uint64_t)1 << keys[i] % 64;
	}
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < WORDS; i++)
		set[i] = start[i];
}

uint64_t run(enum side side)
{
	return CALL(side, insert_all, set, keys, count);
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < WORDS; i++)
		sum = checksum_add(sum, set[i]);
	return sum;
}
