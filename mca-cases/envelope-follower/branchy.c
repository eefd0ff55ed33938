#include "../kernel.h"

void follow(const float *samples, size_t n, float decay, float *out)
{
	float level = 1;
	for (size_t i = 0; i < n; i++) {
		level *= decay;
		if (samples[i] > level) {
			ARM();
			level = samples[i];
		}
		out[i] = level;
	}
}
