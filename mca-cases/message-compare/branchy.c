#include "../kernel.h"

struct message {
	int64_t when, sequence;
};

static int compare(const struct message *a, const struct message *b)
{
	if (a->when < b->when) {
		ARM();
		return -1;
	}
	if (a->when > b->when) {
		ARM();
		return 1;
	}
	if (a->sequence < b->sequence) {
		ARM();
		return -1;
	}
	return a->sequence > b->sequence;
}

size_t count_before(const struct message *a, const struct message *b, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += compare(&a[i], &b[i]) < 0;
	return count;
}
