#include "../driver.h"

struct record {
	uint32_t id;
	int32_t amount;
	uint64_t time;
};

SIDES(int64_t, positive_sum, (const struct record *records, size_t n));

static struct record records[MAX_UNITS];
static size_t count;

// Each amount is positive with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		int32_t amount = 1 + random_below(random, 1000000);
		records[i].amount = random_chance(random, p) ? amount : -amount;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, positive_sum, records, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
