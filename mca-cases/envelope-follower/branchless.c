#include "../kernel.h"

void follow(const float *samples, size_t n, float decay, float *out)
{
	float level = 1;
	for (size_t i = 0; i < n; i++) {
		float sample = samples[i];
		level *= decay;
		level = sample > level ? sample : level;
		out[i] = level;
	}
}
