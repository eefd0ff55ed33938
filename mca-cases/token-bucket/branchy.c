#include "../kernel.h"

struct packet {
	uint32_t elapsed, size;
};

// police returns the size of all packets that pass.
uint64_t police(const struct packet *packets, size_t n, uint32_t limit)
{
	uint64_t passed = 0;
	uint32_t tokens = 0;
	for (size_t i = 0; i < n; i++) {
		tokens += packets[i].elapsed;
		if (tokens > limit) {
			ARM();
			tokens = limit;
		}
		if (packets[i].size <= tokens) {
			ARM();
			tokens -= packets[i].size;
			passed += packets[i].size;
		}
	}
	return passed;
}
