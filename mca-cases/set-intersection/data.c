#include "../driver.h"

SIDES(size_t, intersect, (const uint32_t *a, const uint32_t *b, size_t n, uint32_t *out));

// The last of each set is above all others.
static uint32_t sets[2][MAX_UNITS + 1], out[MAX_UNITS + 1];
static size_t count;

// Each step goes on not in the first set alone with the probability p, and of these in
// both with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	size_t sizes[2] = {0, 0};
	uint32_t element = 0;
	for (size_t i = 0; i < units; i++) {
		element += 1 + random_below(random, 1000);
		bool second = random_chance(random, p), first = !second || random_chance(random, p);
		if (first)
			sets[0][sizes[0]++] = element;
		if (second)
			sets[1][sizes[1]++] = element;
	}
	sets[0][sizes[0]] = sets[1][sizes[1]] = UINT32_MAX;
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i <= count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	return CALL(side, intersect, sets[0], sets[1], count, out);
}

uint64_t check(uint64_t found)
{
	uint64_t sum = found;
	for (size_t i = 0; i < found; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
