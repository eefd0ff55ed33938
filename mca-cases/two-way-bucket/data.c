#include "../driver.h"

struct bucket {
	uint32_t keys[2], values[2];
};

SIDES(uint64_t, sum_values, (const struct bucket *table, uint32_t mask, const uint32_t *keys, size_t n));

enum { BUCKETS = 512 };

static struct bucket table[BUCKETS];
static uint32_t keys[MAX_UNITS];
static size_t count;

// Each key is in the second place of its bucket with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			table[i].keys[k] = (2 * random_below(random, 1000) + k) * BUCKETS + i;
			table[i].values[k] = random_below(random, 1000000);
		}
	}
	for (size_t i = 0; i < units; i++)
		keys[i] = table[random_below(random, BUCKETS)].keys[random_chance(random, p)];
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, sum_values, table, BUCKETS - 1, keys, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
