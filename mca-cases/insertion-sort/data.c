#include "../driver.h"

SIDES(void, sort_all, (const int32_t *in, size_t n, size_t size, int32_t *out));

enum { SIZE = 8 };

static int32_t in[SIZE * MAX_UNITS], out[SIZE * MAX_UNITS];
static size_t count;

// Each element is before the one in front of it with the probability p, then before the
// next one with the probability p, and so on.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t a = 0; a < units; a++) {
		int order[SIZE]; // the elements so far by rank
		for (int i = 0; i < SIZE; i++) {
			int k = i;
			for (; k > 0 && random_chance(random, p); k--)
				order[k] = order[k - 1];
			order[k] = i;
		}
		int32_t value = 0;
		for (int rank = 0; rank < SIZE; rank++)
			in[a * SIZE + order[rank]] = value += 1 + random_below(random, 1000);
	}
	count = SIZE * units;
}

void reset(void)
{
	for (size_t i = 0; i < count; i++)
		out[i] = 0;
}

uint64_t run(enum side side)
{
	CALL(side, sort_all, in, count / SIZE, SIZE, out);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, out[i]);
	return sum;
}
