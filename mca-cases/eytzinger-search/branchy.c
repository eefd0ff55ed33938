#include "../kernel.h"

// The tree has its root at 1 and the children of k at 2k and 2k+1.
static size_t search(const uint32_t *tree, size_t n, uint32_t key)
{
	size_t k = 1;
	while (k <= n) {
		if (tree[k] < key) {
			ARM();
			k = 2 * k + 1;
		} else {
			ARM();
			k = 2 * k;
		}
	}
	return k;
}

uint64_t search_all(const uint32_t *tree, size_t n, const uint32_t *keys, size_t searches)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < searches; i++)
		sum += search(tree, n, keys[i]);
	return sum;
}
