#include "../kernel.h"

// sift_all replaces the root of each heap and moves the new value down. The heaps have
// their roots at 1 and stride values each.
void sift_all(uint16_t *heaps, size_t n, size_t stride, const uint16_t *values)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t *heap = &heaps[i * stride];
		size_t hole = 1;
		for (size_t child = 2; child < stride; child = 2 * hole) {
			if (heap[child + 1] < heap[child]) {
				ARM();
				child++;
			}
			if (heap[child] >= values[i])
				break;
			heap[hole] = heap[child];
			hole = child;
		}
		heap[hole] = values[i];
	}
}
