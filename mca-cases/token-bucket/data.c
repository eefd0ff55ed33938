#include "../driver.h"

struct packet {
	uint32_t elapsed, size;
};

SIDES(uint64_t, police, (const struct packet *packets, size_t n, uint32_t limit));

enum { LIMIT = 1000000 };

static struct packet packets[MAX_UNITS];
static size_t count;

// With the probability p the bucket is full before a packet, and alike a packet needs
// more than there is.
void prepare(struct random *random, double p, size_t units)
{
	uint32_t tokens = 0;
	for (size_t i = 0; i < units; i++) {
		uint32_t room = LIMIT - tokens, more = 1 + random_below(random, 1000);
		packets[i].elapsed = random_chance(random, p) ? room + more : random_below(random, room + 1);
		tokens += packets[i].elapsed;
		if (tokens > LIMIT)
			tokens = LIMIT;
		packets[i].size = random_chance(random, p) ? tokens + more : random_below(random, tokens + 1);
		if (packets[i].size <= tokens)
			tokens -= packets[i].size;
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, police, packets, count, LIMIT);
}

uint64_t check(uint64_t result)
{
	return result;
}
