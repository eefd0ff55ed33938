#include "../driver.h"

struct node {
	uint32_t key;
	uint32_t child[2];
};

SIDES(uint64_t, walk_all, (const struct node *nodes, const uint32_t *keys, size_t n));

enum { LEVELS = 8, LEAVES = 1 << LEVELS };

// A tree of all keys below LEAVES; leaf k is node LEAVES - 1 + k.
static struct node nodes[2 * LEAVES - 1];
static uint32_t keys[MAX_UNITS];
static size_t count;

// Each step goes right with the probability p.
void prepare(struct random *random, double p, size_t units)
{
	for (uint32_t level = 0; level < LEVELS; level++) {
		uint32_t first = (1 << level) - 1, width = LEAVES >> level;
		for (uint32_t i = 0; i < 1u << level; i++) {
			struct node *node = &nodes[first + i];
			node->key = i * width + width / 2;
			node->child[0] = 2 * (first + i) + 1;
			node->child[1] = 2 * (first + i) + 2;
		}
	}
	for (size_t i = 0; i < units; i++) {
		keys[i] = 0;
		for (int level = 0; level < LEVELS; level++)
			keys[i] = 2 * keys[i] + random_chance(random, p);
	}
	count = units;
}

void reset(void)
{
}

uint64_t run(enum side side)
{
	return CALL(side, walk_all, nodes, keys, count);
}

uint64_t check(uint64_t result)
{
	return result;
}
