// The same three atomic operations for machines without and with LSE.
#include <stdbool.h>
#include <stdint.h>

// add adds to a counter that others change, too.
uint64_t add(uint64_t *counter, uint64_t n)
{
	return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

// swap stores a value and returns the old one.
uint64_t swap(uint64_t *place, uint64_t value)
{
	return __atomic_exchange_n(place, value, __ATOMIC_ACQ_REL);
}

// push puts a node in front of a list if its head is still the expected one.
bool push(uint64_t *head, uint64_t expected, uint64_t node)
{
	return __atomic_compare_exchange_n(head, &expected, node, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
