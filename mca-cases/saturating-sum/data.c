#include "../driver.h"

SIDES(int64_t, fill_bucket, (const int32_t *values, size_t n, int32_t limit));

enum { LIMIT = 1000000 };

static int32_t values[MAX_UNITS];
static size_t count;

// Each value fills the bucket with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	int32_t level = 0;
	for (size_t i = 0; i < units; i++) {
		int32_t next = random_below(random, LIMIT);
		bool full = random_chance(random, p);
		values[i] = next + (full ? LIMIT + 1 : 0) - level;
		level = full ? LIMIT : next;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, fill_bucket, values, count, LIMIT);
}

uint64_t check(uint64_t result)
{
	return result;
}
