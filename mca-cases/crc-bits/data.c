#include "../driver.h"

SIDES(uint32_t, crc, (const uint8_t *bytes, size_t n, uint32_t polynomial));

static const uint32_t polynomial = 0xedb88320;

static uint8_t bytes[MAX_UNITS];
static size_t count;

// Each bit that is shifted out of the state is set with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	uint32_t state = 0xffffffff;
	for (size_t i = 0; i < units; i++) {
		bytes[i] = 0;
		for (int bit = 0; bit < 8; bit++) {
			uint32_t set = random_chance(random, p);
			bytes[i] |= ((state & 1) ^ set) << bit;
			state = state >> 1 ^ (set ? polynomial : 0);
		}
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, crc, bytes, count, polynomial);
}

uint64_t check(uint64_t result)
{
	return result;
}
