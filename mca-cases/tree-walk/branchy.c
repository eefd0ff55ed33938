#include "../kernel.h"

struct node {
	uint32_t key;
	uint32_t child[2];
};

static uint32_t walk(const struct node *nodes, uint32_t key)
{
	uint32_t at = 0;
	for (int level = 0; level < 8; level++) {
		if (key < nodes[at].key) {
			ARM();
			at = nodes[at].child[0];
		} else {
			at = nodes[at].child[1];
		}
	}
	return at;
}

uint64_t walk_all(const struct node *nodes, const uint32_t *keys, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += walk(nodes, keys[i]);
	return sum;
}
