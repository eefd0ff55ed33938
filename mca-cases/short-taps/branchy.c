#include "../kernel.h"

int64_t filter_rows(const int32_t *samples, size_t rows, const int32_t *weights, size_t taps, int32_t limit)
{
	int64_t sum = 0;
	for (size_t i = 0; i < rows; i++) {
		int32_t row = 0;
		for (size_t k = 0; k < taps; k++) {
			int32_t sample = samples[i * taps + k];
			if (sample > limit) {
				ARM();
				row += sample * weights[k];
			}
		}
		sum += row >> 4;
	}
	return sum;
}
