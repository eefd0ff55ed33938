#include "../kernel.h"

struct message {
	int64_t when, sequence;
};

static int compare(const struct message *a, const struct message *b)
{
	int when_sign = (a->when > b->when) - (a->when < b->when);
	int sequence_sign = (a->sequence > b->sequence) - (a->sequence < b->sequence);
	return 2 * when_sign + sequence_sign;
}

size_t count_before(const struct message *a, const struct message *b, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += compare(&a[i], &b[i]) < 0;
	return count;
}
