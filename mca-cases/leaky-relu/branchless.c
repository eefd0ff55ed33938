#include "../kernel.h"

void leaky_relu(const float *in, size_t n, float slope, float *out)
{
	float factors[] = {1, slope};
	for (size_t i = 0; i < n; i++) {
		float x = in[i];
		out[i] = x * factors[x < 0];
	}
}
