#include "../kernel.h"

struct record {
	uint32_t id;
	int32_t amount;
	uint64_t time;
};

int64_t positive_sum(const struct record *records, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (records[i].amount > 0) {
			ARM();
			sum += records[i].amount;
		}
	}
	return sum;
}
