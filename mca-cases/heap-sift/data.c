#include "../driver.h"

SIDES(void, sift_all, (uint16_t *heaps, size_t n, size_t stride, const uint16_t *values));

// The heaps together fit into the first cache. Each is used once: a second value would
// find it in another order.
enum { LEVELS = 6, STRIDE = 1 << LEVELS, MAX_HEAPS = 256 };

static uint16_t input[MAX_HEAPS * STRIDE], heaps[MAX_HEAPS * STRIDE];
static uint16_t values[MAX_HEAPS];
static size_t count;

// Of each two children the right one is smaller with the probability p. The new values
// are above all others and sink to the last level.
void prepare(struct random *random, double p, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		uint16_t *heap = &input[i * STRIDE];
		heap[0] = 0;
		heap[1] = random_below(random, 1000);
		for (size_t child = 2; child < STRIDE; child += 2) {
			uint16_t smaller = heap[child / 2] + random_below(random, 1000);
			uint16_t larger = smaller + 1 + random_below(random, 1000);
			bool right = random_chance(random, p);
			heap[child] = right ? larger : smaller;
			heap[child + 1] = right ? smaller : larger;
		}
		values[i] = UINT16_MAX - random_below(random, 1000);
	}
	count = units;
}

void reset(void)
{
	for (size_t i = 0; i < count * STRIDE; i++)
		heaps[i] = input[i];
}

uint64_t run(enum side side)
{
	CALL(side, sift_all, heaps, count, STRIDE, values);
	return 0;
}

uint64_t check(uint64_t sum)
{
	for (size_t i = 0; i < count * STRIDE; i++)
		sum = checksum_add(sum, heaps[i]);
	return sum;
}
