#include "../kernel.h"

void leaky_relu(const float *in, size_t n, float slope, float *out)
{
	for (size_t i = 0; i < n; i++) {
		float x = in[i];
		if (x < 0) {
			ARM();
			x *= slope;
		}
		out[i] = x;
	}
}
