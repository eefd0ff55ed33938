#include "../kernel.h"

size_t sum_lengths(const uint8_t *leads, size_t n)
{
	size_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (leads[i] < 0x80) {
			ARM();
			sum += 1;
		} else if (leads[i] < 0xe0) {
			ARM();
			sum += 2;
		} else if (leads[i] < 0xf0) {
			ARM();
			sum += 3;
		} else {
			ARM();
			sum += 4;
		}
	}
	return sum;
}
