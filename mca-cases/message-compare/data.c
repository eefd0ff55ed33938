#include "../driver.h"

struct message {
	int64_t when, sequence;
};

SIDES(size_t, count_before, (const struct message *a, const struct message *b, size_t n));

static struct message a[MAX_UNITS], b[MAX_UNITS];
static size_t count;

// a is not before b by its time with the probability p: later, or at the same time.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		int64_t distance = -1 - (int64_t)random_below(random, 1000);
		if (random_chance(random, p))
			distance = random_chance(random, 0.5) ? -distance : 0;
		b[i].when = random_below(random, 1000000);
		a[i].when = b[i].when + distance;
		b[i].sequence = 2 * random_below(random, 1000000);
		a[i].sequence = b[i].sequence + (random_chance(random, 0.5) ? 1 : -1);
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, count_before, a, b, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
